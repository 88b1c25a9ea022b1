internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// What the machine's vault needs so that services can use it after each start, without a person.
enum MachineVault {
    private static let unit = "cofferd.service"

    /// Connects root to the machine's daemon.
    static func connect(_ options: ConnectionOptions) throws(CofferError) -> BlockingClient {
        guard geteuid() == 0 else {
            throw CofferError(
                .missingEntitlement,
                "only root can seal the device key of the machine's vault",
                hint: "run 'sudo coffer init --machine'"
            )
        }
        return try options.connectToMachine()
    }

    /// Seals the device key of a new vault, and has the daemon start with what was sealed.
    static func seal(_ options: ConnectionOptions) throws(CofferError) {
        do throws(CofferError) {
            let holder = try DeviceKeyFiles().seal(to: .auto)
            Output.standardError.line("its device key is sealed to \(holder.words)")
            guard ServiceManager.system.control("restart", unit),
                try options.connectToMachine().status().state == .noPasscode
            else {
                throw CofferError(
                    .notAvailable,
                    "the daemon does not start with the sealed device key",
                    hint: "'systemctl status cofferd' and 'coffer device-key check' say why"
                )
            }
        } catch {
            throw CofferError(
                error.code,
                "the vault is made, but is not ready for the next start of the machine: \(error.message)",
                hint: error.hint ?? "'coffer device-key seal' tries again"
            )
        }
        Output.standardError.line("try: sudo coffer put NAME --for UNIT")
    }
}
