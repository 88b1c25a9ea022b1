package import CofferCore
package import CofferFiles
package import CofferKeychain
internal import CofferKeys
package import CofferWire

extension Vault {
    /// Finds an item.
    ///
    /// A name is in one store at a time.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock, if the passcode protects its name.
    ///
    /// - Parameter spot: Where the name is in the file store, if the caller asks for more there.
    package func stored(_ name: ItemName, in group: String, at spot: FileSpot? = nil) throws -> Located? {
        let catalog = try catalog
        let state = try keys.state
        let secret = try catalog.keychain.find(GenericPasswordKey(name, in: group)).map { StoredItem.keychain($0) }
        let item =
            try secret ?? file(name, in: group, at: spot, catalog).map { .file($0) }
            ?? qualified(name, in: group).map { .keychain($0) }
        return item.map { Located(item: $0, info: ItemInfo($0, catalog.files, in: state)) }
    }

    private func file(_ name: ItemName, in group: String, at spot: FileSpot?, _ catalog: Catalog) throws -> FileItem? {
        if let spot { return try catalog.files.find(at: spot) }
        return try catalog.files.find(name, in: group)
    }

    /// Finds the keychain item that a name means which is no path.
    package func qualified(_ name: ItemName, in group: String) throws -> KeychainItem? {
        try QualifiedName(name).flatMap { try catalog.keychain.find($0, in: group) }
    }

    /// What is known of a stored item in every state of the vault.
    package struct Present {
        package let protection: Protection
        /// The item; `nil` if its metadata can be opened after the first unlock only.
        package let located: Located?

        package var kind: ItemKind? { located?.info.kind }
        package var isSealed: Bool { located == nil }
    }

    /// What is stored under a name, in every state of the vault.
    ///
    /// - Parameter spot: Where the name is in the file store, if the caller asks for more there.
    package func present(_ name: ItemName, in group: String, at spot: FileSpot? = nil) throws -> Present? {
        do {
            return try stored(name, in: group, at: spot).map { Present(protection: $0.info.protection, located: $0) }
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            let accessibility = try catalog.keychain.accessibility(of: GenericPasswordKey(name, in: group))
            let protection =
                try accessibility.map { Protection.keychain($0) }
                ?? catalog.files.protectionClass(of: name, in: group).map { Protection.file($0) }
            guard let protection else { throw error }
            return Present(protection: protection, located: nil)
        }
    }

    /// An item, and its description for clients.
    package struct Located {
        package let item: StoredItem
        package let info: ItemInfo
    }

    /// Finds an item, or throws that there is none.
    package func require(_ name: ItemName, in group: String) throws -> Located {
        if let located = try stored(name, in: group) { return located }
        throw CofferError.notFound(name)
    }

    package func info(of name: ItemName, in group: String) throws(CofferError) -> ItemInfo {
        do { return try require(name, in: group).info } catch {
            throw .init(mapping: error, "can't look for \(name.quoted)")
        }
    }
}

extension CofferError {
    package static func notFound(_ name: ItemName) -> CofferError {
        CofferError(.itemNotFound, "there is no item \(name.quoted)", hint: "'coffer list' shows what there is")
    }
}
