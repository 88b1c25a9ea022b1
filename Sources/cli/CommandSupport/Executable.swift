package import ArgumentParser
package import CofferCore
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// A program that the binary is, by the name under which it was started.
package protocol Executable: ParsableCommand {
    /// Reports an error in the way in which the caller of the program expects it.
    ///
    /// - Returns: The exit code.
    static func report(_ error: CofferError) -> Int32

    /// Converts an error of the argument parser to the form of all other errors.
    static func misuse(_ error: any Error) -> CofferError

    /// Parses the arguments.
    ///
    /// - Returns: The command to run; `nil` if the arguments were so plain that all is done already.
    static func command(of words: ArraySlice<String>) throws -> (any ParsableCommand)?
}

extension Executable {
    package static func report(_ error: CofferError) -> Int32 {
        Output.report(error)
        return ExitStatus(error.code).rawValue
    }

    package static func misuse(_ error: any Error) -> CofferError {
        let own = "\(configuration.commandName ?? "coffer") --help"
        let help = fullMessage(for: error).firstMatch(of: /See '([^']+)'/).map { String($0.1) } ?? own
        let text = withoutFarSuggestion(line(of: Self.message(for: error)))
        // A word in capitals, such as UNIT, stays as it is.
        let isName = text.dropFirst().first?.isUppercase ?? false
        return CofferError(
            .param,
            isName ? text : text.prefix(1).lowercased() + text.dropFirst(),
            hint: "'\(help)' says more"
        )
    }

    package static func command(of words: ArraySlice<String>) throws -> (any ParsableCommand)? { try parsed(words) }

    /// Has the argument parser parse the arguments.
    package static func parsed(_ words: ArraySlice<String>) throws -> any ParsableCommand {
        if let script = CompletionScript.requested(by: words, of: Self.self) {
            // As the argument parser prints its own.
            throw CleanExit.message(script)
        }
        let words = ClientKind.joined(LeadingOptions.behindVerb(words, of: Self.self))
        try UnknownVerb.refuse(in: words, of: Self.self)
        return try parseAsRoot(Array(words))
    }

    /// The message without an option that only the argument parser takes for similar, such as `--from` for `--json`.
    private static func withoutFarSuggestion(_ message: String) -> String {
        let form = /(Unknown option '-*([^']*)')\. Did you mean '-*([^']*)'\?/
        guard let match = message.wholeMatch(of: form) else { return message }
        return UnknownVerb.isNear(String(match.2), String(match.3)) ? message : String(match.1)
    }

    /// A message of the argument parser on one line, with commas in a list of values.
    private static func line(of message: String) -> String {
        let lines = message.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }
        let values = lines.filter { $0.hasPrefix("- ") }.map { $0.dropFirst(2) }.joined(separator: ", ")
        let words = lines.filter { !$0.hasPrefix("- ") } + (values.isEmpty ? [] : [values[...]])
        return words.joined(separator: " ")
    }

    /// Runs the program and exits with the code of the result.
    package static func run() -> Never {
        ProcessHardening.ignoreWriteSignals()
        do {
            try ProcessHardening.openStandardStreams()
            var command = try Self.command(of: CommandLine.arguments.dropFirst())
            try command?.run()
            // A person who leaves the pager has read enough.
            let isRead = Pager.finish()
            if let failure = Output.failure, !(isRead && failure.code == EPIPE) {
                if failure.code == EPIPE { ProcessHardening.endByBrokenPipe() }
                throw failure.cofferError("can't write the output")
            }
            Glibc.exit(ExitStatus.done.rawValue)
        } catch let error as SystemError {
            Pager.finish()
            _ = report(error.cofferError("can't start"))
            Glibc.exit(ExitStatus.io.rawValue)
        } catch let error as CofferError {
            Pager.finish()
            Glibc.exit(report(error))
        } catch let status as ExitStatus {
            Pager.finish()
            Glibc.exit(status.rawValue)
        } catch  where exitCode(for: error) == .validationFailure {
            Glibc.exit(report(misuse(error)))
        } catch {
            self.exit(withError: error)
        }
    }
}
