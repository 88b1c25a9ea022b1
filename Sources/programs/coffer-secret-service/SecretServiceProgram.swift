import ArgumentParser
import CofferClient
import CofferCommandSupport
import CofferMemory
import CofferSecretService
import CofferSystem
import CofferTerminal

/// The program: the options by which `coffer` finds the daemon, and what a program's Lock does.
struct SecretServiceProgram: Executable {
    static let configuration = CommandConfiguration(
        commandName: "coffer-secret-service",
        abstract: "Serve the vault as the Secret Service of the session bus.",
        discussion: """
            It owns org.freedesktop.secrets until it is ended. 'coffer secret-service enable' has the bus start it when a \
            program asks for secrets.
            """
    )

    @Flag(help: "When a program locks a collection, only say that it is locked: the vault stays as it is.")
    var keepUnlocked = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        do { try ProcessHardening.apply() } catch { throw error.cofferError("can't protect the memory") }
        Sodium.prepare()
        try Bridge.run(
            { () throws(CofferError) in try connection.connect() },
            environment: { environment($0) },
            locksVault: !keepUnlocked,
            report: { Output.report($0) }
        )
    }
}
