internal import CofferClient
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The program behind `--`, which `run` starts.
struct StartedProgram {
    private let name: String
    private let file: ProgramFile

    /// Finds the program, before a secret is read for it.
    ///
    /// - Throws: ``ExitStatus/noProgram`` or ``ExitStatus/cannotRun``, after the report.
    init(named name: String) throws(ExitStatus) {
        self.name = name
        do throws(SystemError) {
            file = try ProgramFile(name, in: environment("PATH"))
        } catch {
            throw Self.refusal(name, error)
        }
    }

    /// Replaces this process by the program; it returns only by an error.
    func start(with secrets: ProvidedSecrets) throws -> Never {
        let failure = try unsafe secrets.withEnvironment { variables in
            unsafe file.execute(Self.arguments, variables)
        }
        throw Self.refusal(name, failure, wasFound: true)
    }

    /// Runs the program with its output masked, and waits for its end.
    func runMasked(with secrets: ProvidedSecrets) throws -> ProcessEnding {
        secrets.warnOfShort()
        let program = try MaskedProgram(masking: secrets.masked) { (output, errors, signals) in
            let started = try unsafe secrets.withEnvironment { variables in
                Result { () throws(SystemError) in
                    unsafe try RelayedProcess(
                        file,
                        Self.arguments,
                        variables,
                        output: output,
                        errors: errors,
                        notHolding: signals
                    )
                }
            }
            do throws(SystemError) { return try started.get() } catch {
                throw Self.refusal(name, error, wasFound: true)
            }
        }
        return try program.finish()
    }

    /// The words behind `--` as they were given: they need not be UTF-8.
    private static var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
        let place = CommandLine.arguments.firstIndex(of: "--") ?? 0
        return unsafe CommandLine.unsafeArgv + place + 1
    }

    private static func refusal(_ name: String, _ error: SystemError, wasFound: Bool = false) -> ExitStatus {
        let isMissing = error.code == ENOENT && !wasFound
        let (reason, hint): (String, String) =
            switch error.code {
            case ENOENT where isMissing: ("there is no such program", "a name without a slash is searched for in $PATH")
            case ENOENT: ("the interpreter that it names does not exist", "its first line, '#!…', names it")
            case ENOEXEC:
                ("it is neither a program nor does it begin with '#!'", "no shell is used: 'sh \(name)' runs a script")
            case EISDIR: ("it is a directory", "name a program in it")
            case E2BIG:
                ("its variables and arguments are too large", "give large secrets by --file instead of --env")
            default: (error.reason, "a program needs the permission to be executed")
            }
        Output.report(CofferError(.io, "can't run \(quotedForDisplay(name)): \(reason)", hint: hint))
        return isMissing ? .noProgram : .cannotRun
    }
}
