package import CofferCore
package import CofferFiles
package import CofferKeychain
internal import CofferSystem
internal import CofferWire

/// The details of a keychain item that a listing leaves out.
package struct ItemDetails {
    let attributes: [KeychainAttribute: AttributeValue]
    let user: [AttributeName: String]
    let accessControl: AccessControl?
    let formerValueCount: Int

    package init(_ item: KeychainItem, _ keychain: KeychainStore) throws {
        attributes = item.allValues
        user = item.attributes.user
        accessControl = item.attributes.accessControl
        formerValueCount = try keychain.histories.count(of: item)
    }
}

extension ItemInfo {
    /// Describes an item.
    ///
    /// - Parameters:
    ///   - name: The name under which it is listed, if it is known already.
    ///   - files: Where the file is, if it is one.
    ///   - state: The state of the vault.
    package init(_ item: StoredItem, named name: String? = nil, _ files: FileStore, in state: VaultState) {
        switch item {
        case .keychain(let item): self.init(item, named: name, in: state)
        case .file(let file): self.init(file, files, in: state)
        }
    }

    package init(_ item: KeychainItem, named name: String? = nil, in state: VaultState, details: ItemDetails? = nil) {
        self.init(
            name: name ?? item.listedName,
            group: item.attributes.group,
            protection: .keychain(item.accessibility),
            itemClass: item.attributes.itemClass,
            reference: item.id,
            byteCount: Int64(item.secretByteCount),
            kind: item.kind,
            created: item.created,
            modified: item.modified,
            isReadable: !item.isLeftBehind && item.accessibility.isAvailable(in: state),
            expiryDate: item.expiryDate,
            isExpired: item.isExpired,
            isLeftBehind: item.isLeftBehind,
            attributes: details?.attributes,
            user: details?.user,
            accessControl: details?.accessControl,
            formerValueCount: details?.formerValueCount
        )
    }

    /// - Parameter isWhole: Whether it has the attributes, which a listing leaves out.
    package init(_ file: FileItem, _ files: FileStore, in state: VaultState, isWhole: Bool = false) {
        let unsynced = files.openFiles.unsynced(file)
        self.init(
            name: file.path,
            group: file.group,
            protection: .file(file.protectionClass),
            byteCount: unsynced?.byteCount ?? file.byteCount,
            kind: file.kind,
            created: file.created,
            modified: unsynced?.modified ?? file.modified,
            isReadable: file.protectionClass.permits(.read, in: state),
            expiryDate: file.expiryDate,
            isExpired: file.expiryDate.map(hasPassed) ?? false,
            attributes: isWhole ? file.metadata.extended.ofItem : nil,
            user: isWhole ? file.metadata.extended.ofOwner(atMost: Limits.userAttributes) : nil
        )
    }
}

extension KeychainItem {
    package var isExpired: Bool { expiryDate.map(hasPassed) ?? false }
}

package func hasPassed(_ date: Int64) -> Bool { date < wallClockMilliseconds() }
