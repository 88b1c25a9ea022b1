internal import CofferClient
internal import CofferSession
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// Where items are restored to.
protocol RestoreTarget {
    /// Restores an item.
    ///
    /// - Returns: Whether it was not there.
    /// - Throws: `duplicateItem` if something else is in its place.
    func restore(_ item: ItemInfo, from client: BlockingClient) throws(CofferError) -> Bool
}

/// A directory that gets the contents of items, for the user only.
struct DirectoryTarget: RestoreTarget {
    private let path: String
    private let isDry: Bool

    init(_ path: String, isDry: Bool) throws(CofferError) {
        self.path = path
        self.isDry = isDry
        if isDry { return }
        do throws(SystemError) { _ = try Directory(makingPath: path) } catch {
            throw error.cofferError("can't make \(quotedForDisplay(path))")
        }
    }

    /// The items of the owner's group are at the top, those of another group below a directory of its name.
    private func components(of item: ItemInfo) throws(CofferError) -> [String] {
        let name = try ItemName(item.name).components.map(String.init)
        return item.group == AccessGroup.owners ? name : ["@" + item.group.replacing("/", with: "%2F")] + name
    }

    func restore(_ item: ItemInfo, from client: BlockingClient) throws(CofferError) -> Bool {
        var components = try components(of: item)
        let file = components.removeLast()
        var folder = path
        if isDry { return true }
        do throws(SystemError) {
            // One by one, none of them through a symbolic link.
            var directory = try Directory(makingPath: path)
            for component in components {
                directory = try directory.subdirectory(component)
                folder += "/" + component
            }
        } catch {
            throw error.cofferError("can't make \(quotedForDisplay(folder))")
        }
        let output = try OutputFile(new: "\(folder)/\(file)")
        let params = ItemGetParameters(name: try ItemName(item.name), group: item.group)
        let returned = try client.call(params, passing: output.number)
        if returned.value.delivery == .payload { try returned.payload.write(to: output.number) }
        try output.finish()
        return true
    }
}

/// The vault of the user.
struct VaultTarget: RestoreTarget {
    private let vault: BlockingClient
    private let isDry: Bool

    init(_ vault: BlockingClient?, isDry: Bool) throws(CofferError) {
        guard let vault else { throw CofferError(.internal, "there is no vault to restore into") }
        self.vault = vault
        self.isDry = isDry
    }

    func restore(_ item: ItemInfo, from client: BlockingClient) throws(CofferError) -> Bool {
        let name = try ItemName(item.name)
        if let existing = try find(name, item.group) {
            if try isSame(item, existing, name, client) { return false }
            throw CofferError(.duplicateItem, "the vault has another one of that name")
        }
        if isDry { return true }
        let info = try client.call(ItemShowParameters(name: name, group: item.group)).value
        guard info.itemClass == nil || info.itemClass == .genericPassword, info.accessControl == nil else {
            try addToKeychain(info, name, from: client)
            return true
        }
        let params = ItemPutParameters(
            name: name,
            wishes: PlacementOptions(like: info),
            attributes: info.attributesOfCopy,
            user: info.user ?? [:],
            isIfAbsent: true
        )
        _ = try client.copy(name, info, as: params, to: vault)
        return true
    }

    private func find(_ name: ItemName, _ group: String) throws(CofferError) -> ItemInfo? {
        do throws(CofferError) { return try vault.call(ItemShowParameters(name: name, group: group)).value } catch {
            guard error.code == .itemNotFound else { throw error }
            return nil
        }
    }

    /// Whether two items have the same content.
    private func isSame(
        _ one: ItemInfo,
        _ other: ItemInfo,
        _ name: ItemName,
        _ client: BlockingClient
    ) throws(CofferError) -> Bool {
        guard one.byteCount == other.byteCount else { return false }
        guard one.protection.store == .file else {
            let params = ItemGetParameters(name: name, group: one.group)
            return try client.call(params).payload.isEqual(to: vault.call(params).payload)
        }
        let length = Int64(Limits.framePayloadBytes)
        var offset: Int64 = 0
        repeat {
            let params = ItemGetParameters(name: name, offset: offset, length: length, group: one.group)
            guard try client.call(params).payload.isEqual(to: vault.call(params).payload) else { return false }
            offset += length
        } while offset < one.byteCount
        return true
    }

    private func addToKeychain(_ info: ItemInfo, _ name: ItemName, from client: BlockingClient) throws(CofferError) {
        let content = try client.call(ItemGetParameters(name: name, group: info.group)).payload
        let derived: Set<KeychainAttribute> = [.accessible, .creationDate, .modificationDate]
        var accessibility: Accessibility?
        if case .keychain(let found) = info.protection { accessibility = found }
        try vault.call(
            KeychainAddParameters(
                info.itemClass ?? .genericPassword,
                (info.attributes ?? [:]).filter { !derived.contains($0.key) },
                user: info.user ?? [:],
                accessibility: accessibility,
                accessControl: info.accessControl
            ),
            payload: content
        )
    }
}
