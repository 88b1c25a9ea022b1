package import ArgumentParser
internal import CofferCore

/// The command `coffer`.
package struct CofferCommand: Executable {
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
                subcommands: [Generate.self, Edit.self, Copy.self, Otp.self, Login.self, SSHAgent.self]
            ),
            CommandGroup(name: "Programs", subcommands: [Run.self, Inject.self]),
            CommandGroup(
                name: "The vault",
                subcommands: [
                    Setup.self, Init.self, Unlock.self, Lock.self, Status.self, Passcode.self, Slot.self, Erase.self,
                    Watch.self,
                    Wait.self,
                    Doctor.self, Audit.self, EntitlementVerb.self, UnitVerb.self, DeviceKeyVerb.self, Grant.self,
                    LeaseVerb.self, Allow.self, Deny.self, Access.self,
                ]
            ),
        ]
    )

    package init() {}
}
