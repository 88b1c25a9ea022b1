internal import ArgumentParser

struct Keychain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychain",
        abstract: "Passwords, certificates and keys, with their attributes.",
        subcommands: [
            AddKeychainItem.self, FindKeychainItems.self, UpdateKeychainItems.self, DeleteKeychainItems.self,
            SignWithKey.self, AgreeWithKey.self, ShowPublicKey.self, ShowHistory.self, RestoreFormerValue.self,
        ]
    )
}
