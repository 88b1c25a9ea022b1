internal import CofferClient
internal import CofferCommandSupport
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The import of what another Secret Service has, by the program of Coffer that speaks its protocol.
///
/// Without that protocol, this program starts faster.
struct ServiceImport {
    private static let program = "coffer-secret-service"

    private let arguments: [String]

    init(isDryRun: Bool, json: Bool, _ connection: ConnectionOptions) {
        arguments =
            [Self.program, "--import"] + (isDryRun ? ["--dry-run"] : []) + (json ? ["--json"] : [])
            + connection.arguments
    }

    /// Replaces this process by the program; it returns only by an error.
    func start() throws(CofferError) -> Never {
        let file: ProgramFile
        do throws(SystemError) {
            file = try ProgramFile(InstalledProgram.path(of: Self.program), in: environment("PATH"))
        } catch {
            throw CofferError(
                .notAvailable,
                "can't ask the Secret Service: there is no program \(Self.program)",
                hint: "install the package of this name"
            )
        }
        var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let failure = unsafe words.withUnsafeMutableBufferPointer { words -> SystemError in
            guard let words = words.baseAddress else { return SystemError("execve", code: EFAULT) }
            let environment = unsafe InheritedEnvironment.variables(except: []) + [nil]
            return unsafe file.execute(words, environment)
        }
        throw failure.cofferError("can't start \(Self.program)")
    }
}
