internal import ArgumentParser
internal import CofferClient
internal import CofferContents
internal import CofferSession
internal import CofferSystem
internal import CofferTerminal

struct Duplicate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicate",
        abstract: "Store a copy of an item under another name, in the same store.",
        discussion: """
            The copy has the content, the protection, the kind, the group and the attributes of the item, and a history of \
            its own.
            """,
        aliases: ["cp"]
    )

    @Argument(help: "The name.", completion: .itemName)
    var old: String

    @Argument(help: "The name of the copy.", completion: .itemName)
    var new: String

    @Flag(help: "Replace an item that is there.")
    var replace = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let name = try ItemName(argument: old)
        let target = try ItemName(argument: new)
        let client = try connection.connect()
        let info = try client.call(ItemShowParameters(name: name, group: access.group)).value
        try info.requireCopyable()
        if name == target { throw CofferError(.param, "\(name.quoted) can't be a copy of itself") }
        let params = ItemPutParameters(
            name: target,
            wishes: PlacementOptions(like: info),
            attributes: info.attributesOfCopy,
            user: info.user ?? [:],
            isIfAbsent: !replace
        )
        do throws(CofferError) {
            let placement = try client.copy(name, info, as: params)
            Output.warn(placement.warnings)
            format.show(placement.json)
        } catch {
            guard error.code == .duplicateItem else { throw error }
            throw CofferError(
                .duplicateItem,
                "there is an item \(target.quoted) already, and it stays as it is",
                hint: "--replace replaces it"
            )
        }
    }
}

extension BlockingClient {
    /// Stores the content of an item once more.
    fileprivate func copy(
        _ name: ItemName,
        _ info: ItemInfo,
        as copy: ItemPutParameters
    ) throws(CofferError) -> Placement {
        let original = ItemGetParameters(name: name, group: info.group)
        if info.byteCount <= Limits.secretBytes { return try call(copy, payload: call(original).payload).value }
        // Larger content passes through memory without a name, and never through a disk.
        let memory = try orFail(name) { () throws(SystemError) in try AnonymousMemory("coffer duplicate") }
        let returned = try call(original, passing: memory.number)
        if returned.value.delivery == .payload { try returned.payload.write(to: memory.number) }
        try orFail(name) { () throws(SystemError) in try memory.rewind() }
        return try call(copy, passing: memory.number).value
    }

    private func orFail<Result: ~Copyable>(
        _ name: ItemName,
        _ step: () throws(SystemError) -> Result
    ) throws(CofferError) -> Result {
        do throws(SystemError) { return try step() } catch { throw error.cofferError("can't duplicate \(name.quoted)") }
    }
}

extension ItemInfo {
    /// The attributes that a copy gets: all but those that its name and its protection give it.
    fileprivate var attributesOfCopy: [KeychainAttribute: AttributeValue] {
        let derived: Set<KeychainAttribute> = [
            .service, .account, .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate,
        ]
        return (attributes ?? [:]).filter { !derived.contains($0.key) }
    }

    /// Refuses an item whose copy would be another thing.
    fileprivate func requireCopyable() throws(CofferError) {
        if let itemClass, itemClass != .genericPassword {
            throw CofferError(
                .param,
                "\(quotedForDisplay(name)) can't be duplicated: its attributes are its name",
                hint: "'coffer keychain add --class \(itemClass.kebabCase)' stores another one"
            )
        }
        if accessControl != nil {
            throw CofferError(
                .param,
                "\(quotedForDisplay(name)) can't be duplicated: its copy would not require authentication",
                hint: "'coffer keychain add --access-control' stores another one"
            )
        }
    }
}

extension PlacementOptions {
    /// The store, the protection, the kind and the group of an item.
    fileprivate init(like info: ItemInfo) {
        self.init()
        group = info.group
        kind = info.kind
        store = info.protection.store
        switch info.protection {
        case .keychain(let accessibility): self.accessibility = accessibility
        case .file(let protection): protectionClass = protection
        }
    }
}
