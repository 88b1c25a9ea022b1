package import ArgumentParser
package import CofferClient
package import CofferTerminal
internal import Glibc

/// The destination of a new recovery key: a line of standard output, or a file.
package struct RecoveryKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write the recovery key to this file, which must not exist yet.", valueName: "file"),
        completion: .file()
    )
    package var recoveryKeyFile: String?

    package init() {}

    /// Refuses JSON if the key would be on standard output as well.
    package func validate(with format: FormatOptions, declining: String) throws {
        guard format.json, recoveryKeyFile == nil else { return }
        throw ValidationError("a recovery key is never inside JSON: give --recovery-key-file FILE\(declining)")
    }

    /// Opens the destination before the key is made.
    package func open() throws(CofferError) -> RecoveryKeyOutput {
        RecoveryKeyOutput(file: try recoveryKeyFile.map { (path) throws(CofferError) in try OutputFile(new: path) })
    }
}

/// The destination of a recovery key.
package struct RecoveryKeyOutput {
    fileprivate let file: OutputFile?

    /// Writes the key, and prints what happened, on standard error if the key is on standard output.
    package func deliver(
        _ key: Secret,
        after words: String,
        _ json: JSONObject,
        warning: String = "",
        hasPasscode: Bool = true,
        _ format: FormatOptions
    ) throws(CofferError) {
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
        format.show(json, "\(words)\(warning)", to: file == nil ? .standardError : .standardOutput)
        if !format.json { Output.standardError.line("\(hasPasscode ? Self.advice : Self.adviceWithoutPasscode)") }
    }

    private static let adviceWithoutPasscode =
        "keep the recovery key apart from this machine: it opens the vault if the device key is lost, and on another machine; "
        + "it is not shown again"
    private static let advice =
        "keep the recovery key apart from this machine: it opens the vault without the passcode, and is not shown again"
}
