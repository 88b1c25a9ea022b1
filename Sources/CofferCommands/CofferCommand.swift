package import ArgumentParser
internal import CofferCore
internal import CofferSystem
internal import Glibc

/// The command `coffer`.
package struct CofferCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "coffer",
        abstract: "Keeps secrets and files that lock when the machine locks.",
        version: "coffer \(Version.program)",
        subcommands: [ClearClipboard.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Everyday",
                subcommands: [
                    Put.self, Get.self, List.self, Search.self, Show.self, History.self, Restore.self, Move.self,
                    Duplicate.self, Remove.self, Protect.self, Explain.self,
                    Simulate.self, Keychain.self, File.self,
                ]
            ),
            CommandGroup(
                name: "Passwords",
                subcommands: [Generate.self, Edit.self, Copy.self, Otp.self, Login.self]
            ),
            CommandGroup(name: "Programs", subcommands: [Run.self, Inject.self]),
            CommandGroup(
                name: "The vault",
                subcommands: [
                    Setup.self, Init.self, Unlock.self, Lock.self, Status.self, Passcode.self, Slot.self, Erase.self,
                    Watch.self,
                    Wait.self,
                    Doctor.self, Audit.self, EntitlementVerb.self, UnitVerb.self, DeviceKeyVerb.self, Grant.self,
                    LeaseVerb.self,
                ]
            ),
        ]
    )

    package init() {}

    /// Runs the program and exits with the code of the result.
    package static func run() -> Never {
        ProcessHardening.ignoreWriteSignals()
        do {
            try ProcessHardening.openStandardStreams()
            try UnknownVerb.refuse(in: CommandLine.arguments.dropFirst())
            var command = try parseAsRoot()
            try command.run()
            // A person who leaves the pager has read enough.
            let isRead = Pager.finish()
            if let failure = Output.failure, !(isRead && failure.code == EPIPE) {
                if failure.code == EPIPE { ProcessHardening.endByBrokenPipe() }
                throw failure.cofferError("can't write the output")
            }
            Glibc.exit(ExitStatus.done.rawValue)
        } catch let error as SystemError {
            Pager.finish()
            Output.report(error.cofferError("can't start"))
            Glibc.exit(ExitStatus.io.rawValue)
        } catch let error as CofferError {
            Pager.finish()
            Output.report(error)
            Glibc.exit(ExitStatus(error.code).rawValue)
        } catch let status as ExitStatus {
            Pager.finish()
            Glibc.exit(status.rawValue)
        } catch  where exitCode(for: error) == .validationFailure {
            Output.report(misuse(error))
            Glibc.exit(ExitStatus.usage.rawValue)
        } catch {
            self.exit(withError: error)
        }
    }

    /// Converts an error of the argument parser to the form of all other errors.
    private static func misuse(_ error: any Error) -> CofferError {
        let help = fullMessage(for: error).firstMatch(of: /See '([^']+)'/).map { String($0.1) } ?? "coffer --help"
        let text = Self.message(for: error).split(whereSeparator: \.isNewline).joined(separator: " ")
        // A word in capitals, such as UNIT, stays as it is.
        let isName = text.dropFirst().first?.isUppercase ?? false
        return CofferError(
            .param,
            isName ? text : text.prefix(1).lowercased() + text.dropFirst(),
            hint: "'\(help)' says more"
        )
    }
}
