internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import Glibc

/// Where a recovery key that was made goes: to standard output, on a line of its own, or to a file.
package struct RecoveryKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write the recovery key to this file, which must not exist yet.", valueName: "file")
    )
    var recoveryKeyFile: String?

    package init() {}

    /// Refuses a JSON object that would have to stand beside the key on standard output.
    func validate(with format: FormatOptions, declining: String) throws {
        guard format.json, recoveryKeyFile == nil else { return }
        throw ValidationError("a recovery key is never inside JSON: give --recovery-key-file FILE\(declining)")
    }

    /// Makes the place for the key, before the key is made.
    func open() throws(CofferError) -> RecoveryKeyOutput {
        RecoveryKeyOutput(file: try recoveryKeyFile.map { (path) throws(CofferError) in try OutputFile(new: path) })
    }
}

/// The place for a recovery key.
struct RecoveryKeyOutput {
    fileprivate let file: OutputFile?

    /// Delivers the key, and says what happened: where the key is on standard output, the words are not.
    func deliver(_ key: Secret, after words: String) throws(CofferError) {
        guard key.count > 0 else {
            throw CofferError(
                .protocolViolation,
                "\(words), but the daemon sent no recovery key",
                hint: "make one with 'coffer slot add'"
            )
        }
        do {
            switch file {
            case .some(let file): try file.finish(key)
            case .none: try Output.standardOutput.line(key)
            }
        } catch {
            throw CofferError(
                error.code,
                "\(words), but its recovery key is lost: \(error.message)",
                hint: "make another one with 'coffer slot add'"
            )
        }
    }

    /// Where words belong that are not the key.
    var words: Output { file == nil ? .standardError : .standardOutput }

    /// What a person should know about the key.
    static let advice =
        "keep the recovery key apart from this machine: it opens the vault without the passcode, and is not shown again"
}
