internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Edit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edit a secret in your editor.",
        discussion: """
            The editor is $VISUAL, $EDITOR, or 'editor'. It gets a file in memory, which is wiped at the end; nothing is \
            stored if the text is unchanged or the editor fails. A new name makes a new secret.
            """
    )

    @Argument(help: "The name, a path such as github.com/token.", completion: .itemName)
    var name: String

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let given = try authentication.readGiven()
        let session = try authentication.connect(with: given)
        let stored = try session.secretIfPresent(itemName, in: access.group)
        let file = try EditedFile(stored?.content ?? Secret(nil), nameEnd: Self.nameEnd(itemName))
        let text = try file.edit()
        var report = StoredReport(name: itemName, isReplaced: stored != nil)
        if text.isEqual(to: stored?.content ?? Secret(nil)) {
            return format.show(
                ["name": .string(itemName.path), "changed": .bool(false)],
                "nothing has changed, and nothing was stored"
            )
        }
        guard text.count > 0 else {
            throw CofferError(
                .param,
                "nothing was stored under \(itemName.quoted): the text is empty",
                hint: stored == nil ? nil : "'coffer remove' removes it"
            )
        }
        // The daemon may have closed the first connection, or have locked: an editor is open for long.
        try Self.unlocking(authentication.connection) { () throws(CofferError) in
            let session = try authentication.connect(with: given)
            if let stored {
                try session.replace(stored, with: text)
            } else {
                try session.create(itemName, text, PlacementOptions(newSecretIn: access.group))
            }
        }
        report.more = [("changed", .bool(true))]
        format.show(report)
    }

    /// The ending of a name, by which an editor knows how to show the text.
    private static func nameEnd(_ name: ItemName) -> String {
        let end = name.account.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        let isPlain = (1...8).contains(end.utf8.count) && end.utf8.allSatisfy { Unicode.Scalar($0).isLetterOrDigit }
        return isPlain ? ".\(end)" : ""
    }

    /// Stores what was typed; if the vault has been locked meanwhile, asks for the passcode first.
    private static func unlocking(
        _ connection: ConnectionOptions,
        _ store: () throws(CofferError) -> Void
    ) throws(CofferError) {
        while true {
            do throws(CofferError) {
                return try store()
            } catch {
                guard error.code == .interactionNotAllowed, (try? SecretInput.openTerminal(orElse: "")) != nil else {
                    throw CofferError(
                        error.code,
                        "what you typed was not stored: \(error.message)",
                        hint: error.code == .interactionNotAllowed ? "run 'coffer unlock', and edit again" : error.hint
                    )
                }
            }
            let passcode = try SecretInput.ask(
                "The vault is locked. Passcode, to store what you typed (^C drops it): ",
                limit: Limits.passcodeBytes
            )
            do throws(CofferError) {
                try connection.connect().call(VaultUnlockParameters(), payload: Secret(passcode))
            } catch {
                guard error.code == .authFailed else { throw error }
                Output.report(error)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isLetterOrDigit: Bool {
        properties.isASCIIHexDigit || ("a"..."z").contains(self) || ("A"..."Z").contains(self)
    }
}
