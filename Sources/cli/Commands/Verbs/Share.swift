internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCore
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Share: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Let another user of the machine read an item, or list what is shared.",
        discussion: """
            A copy of the item goes to the machine's vault, where that user reads it with 'coffer get NAME --from YOU', also \
            while your own vault is locked. The same command again brings the copy up to date; --stop ends it. Without a \
            name, it lists what you share and what others share with you.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String?

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp("The user who may read it.", valueName: "user"),
        completion: .user
    )
    var reader: String?

    @Flag(help: "End it; without --with, for all users.")
    var stop = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if name == nil && (stop || reader != nil) { throw ValidationError("say which item") }
    }

    func run() throws {
        let name = try name.map { (name) throws(CofferError) in try ItemName(argument: name) }
        let reader = try reader.map { (user) throws(CofferError) in try UserDatabase.number(ofUser: user) }
        if let name, stop { return try end(name, reader) }
        if let name, let reader { return try share(name, with: reader) }
        try list(name)
    }

    // MARK: Sharing

    private func share(_ name: ItemName, with reader: UInt32) throws(CofferError) {
        guard reader != geteuid() else { throw CofferError(.param, "you may read your own items: nothing is to share") }
        let pattern = try NamePattern(name.path)
        guard pattern.isOneName else {
            throw CofferError(
                .param,
                "\(name.quoted) can't be shared: '*' and '?' in a name stand for other names there",
                hint: "'coffer cp' stores a copy under another name"
            )
        }
        let session = try authentication.connect()
        let info = try session.client.call(ItemShowParameters(name: name, group: access.group)).value
        try info.requireCopyable("shared")
        let vault = try connect()
        let rule = try vault.request { (machine) throws(CofferError) in
            let params = ItemPutParameters(sharing: name, info)
            Output.warn(try session.client.copy(name, info, as: params, to: machine).warnings)
            let rule = AccessAllowParameters(
                client: .user(reader),
                verbs: [.read],
                pattern: pattern,
                group: AccessGroup.ownUser
            )
            return try machine.call(rule).value
        }
        let user = Self.words(reader)
        format.show(rule.json, "shared \(name: name.path) with \(user): it is in the machine's vault, too")
        guard !format.json, let own = UserDatabase.userName(of: geteuid()) else { return }
        Output.standardError.line("\(user) reads it with: coffer get \(name: name.path) --from \(own)")
    }

    /// Removes the rules by which an item is shared, and the copy when none is left.
    private func end(_ name: ItemName, _ reader: UInt32?) throws(CofferError) {
        let vault = try connect()
        try vault.request { (machine) throws(CofferError) in
            let all = try vault.ownItems()
            if all.contains(where: { $0.name == nil }) {
                throw .locked(name.quoted, in: .beforeFirstUnlock, for: .write)
            }
            let shares = all.filter { $0.name == name.path }
            let ended = shares.filter { reader == nil || $0.userID == reader }
            guard !ended.isEmpty else { throw Self.isNotShared(name, reader) }
            for share in ended { try machine.call(AccessRemoveParameters(number: share.rule)) }
            if ended.count == shares.count { try removeCopy(name, machine) }
            Output.standardError.lines(
                ended.map {
                    "\(Self.words($0.userID)) can't read \(name.quoted) any more, and may have kept what it was"
                }
            )
        }
    }

    private func removeCopy(_ name: ItemName, _ machine: BlockingClient) throws(CofferError) {
        do throws(CofferError) {
            try machine.call(ItemRemoveParameters(name: name, group: AccessGroup.ownUser))
        } catch {
            // It was removed by hand.
            guard error.code == .itemNotFound else { throw error }
        }
    }

    private func connect() throws(CofferError) -> SharedVault {
        do throws(CofferError) {
            return try SharedVault(authentication.connection)
        } catch {
            throw error.explainedForSharing()
        }
    }

    // MARK: Listing

    /// Lists what is shared; all of it without a name.
    private func list(_ name: ItemName?) throws(CofferError) {
        var items: [SharedItem] = []
        do throws(CofferError) {
            items = try SharedVault(authentication.connection).items()
        } catch {
            // A user who may not share, and with whom nothing is shared, is not admitted.
            guard error.code == .missingEntitlement else { throw error }
        }
        let wanted = items.filter { name == nil || $0.name == name?.path }
        if format.json { return wanted.forEach { Output.standardOutput.line($0.json) } }
        var table = Table(SharedItem.columns)
        for item in wanted { table.add(item.row) }
        Output.standardOutput.lines(table.lines(for: Output.standardOutput.columnCount))
        if wanted.isEmpty { Output.standardError.line("nothing is shared, by you or with you") }
    }

    private static func words(_ user: UInt32) -> Line { "\(name: UserDatabase.userName(of: user) ?? "\(user)")" }

    private static func isNotShared(_ name: ItemName, _ reader: UInt32?) -> CofferError {
        let whom = reader.map { " with \(words($0))" } ?? ""
        return CofferError(
            .itemNotFound,
            "you don't share \(name.quoted)\(whom)",
            hint: "'coffer share' lists what you share"
        )
    }
}

extension ItemPutParameters {
    /// A copy of an item in the caller's own group of the machine's vault.
    fileprivate init(sharing name: ItemName, _ info: ItemInfo) {
        var wishes = PlacementOptions()
        wishes.group = AccessGroup.ownUser
        wishes.kind = info.kind
        wishes.store = info.protection.store
        if case .file(let protection) = info.protection { wishes.leastClass = protection }
        self.init(name: name, wishes: wishes, attributes: info.attributesOfCopy, user: info.user ?? [:])
    }
}
