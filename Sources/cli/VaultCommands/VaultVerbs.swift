package import ArgumentParser

/// What the room adds to the command line.
package enum VaultVerbs {
    /// The verbs for the vault, in the order of the help.
    package static var all: [any ParsableCommand.Type] {
        [
            Setup.self, Init.self, Unlock.self, Lock.self, Status.self, Passcode.self, Slot.self, Erase.self,
            Watch.self, Wait.self, Doctor.self, Audit.self, EntitlementVerb.self, UnitVerb.self, DeviceKeyVerb.self,
            Grant.self, Allow.self, Deny.self, Access.self, Mount.self, Umount.self, SecretService.self,
        ]
    }
}
