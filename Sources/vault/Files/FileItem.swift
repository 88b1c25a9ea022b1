package import CofferCore
internal import CofferKeys
internal import CofferMemory

/// A file in the catalog.
package struct FileItem: Sendable {
    let node: Int64
    let parent: Int64
    /// The sealed attributes.
    package let metadata: NodeMetadata
    /// The path.
    package let path: String
    /// The file's class.
    package let protectionClass: ProtectionClass
    let content: ItemID
    let wrappedKey: [UInt8]
    /// The row that the path leads to.
    let name: FileTree.NameRow
    /// The number of a version; `nil` if it is the file itself.
    package var version: Int64?
}

extension FileItem {
    /// The number of the file, which its names share.
    package var inode: Int64 { node }
    /// The access group of the file.
    package var group: String { metadata.group }
    /// The size of the content.
    package var byteCount: Int64 { metadata.byteCount }
    /// The rule by which the put that stored it was decided, and what overrode it; "" if none was kept.
    package var decision: String { metadata.decision }
    /// The kind that its owner stated.
    package var kind: ItemKind? { metadata.kind }
    /// When it was created, in milliseconds since 1970.
    package var created: Int64 { metadata.created }
    /// When its content or its class was last changed, in milliseconds since 1970.
    package var modified: Int64 { metadata.modified }

    /// Unwraps the key of a file.
    ///
    /// - Throws: `interactionNotAllowed`; `decode` if its wrapped key is damaged.
    func key(_ keys: VaultKeys, for operation: ItemOperation) throws(CofferError) -> SymmetricKey {
        do throws(KeyError) {
            return unsafe try keys.fileKey(
                unwrapping: wrappedKey.span.bytes,
                for: protectionClass,
                of: content
            )
        } catch {
            throw error.cofferError(quotedForDisplay(path), in: keys.state, for: operation)
        }
    }
}

extension ItemChange {
    package init(_ kind: Kind, _ file: FileItem) {
        self.init(kind, in: .file, group: file.group, name: file.path, inode: file.node)
    }

    package init(_ kind: Kind, file name: ItemName, in group: String, formerName: ItemName? = nil, inode: Int64?) {
        self.init(kind, in: .file, group: group, name: name.path, formerName: formerName?.path, inode: inode)
    }

    package init(_ kind: Kind, _ entry: FileEntry) {
        self.init(kind, in: .file, group: entry.metadata.group, name: entry.path, inode: entry.inode)
    }
}
