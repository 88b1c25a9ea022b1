package import CofferCore

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
}

extension FileItem {
    /// The access group of the file.
    package var group: String { metadata.group }
    /// The last part of the path.
    var name: String { metadata.name }
    /// The size of the content.
    package var byteCount: Int64 { metadata.byteCount }
    /// The kind that its owner stated.
    package var kind: ItemKind? { metadata.kind }
    /// When it was created, in milliseconds since 1970.
    package var created: Int64 { metadata.created }
    /// When its content or its class was last changed, in milliseconds since 1970.
    package var modified: Int64 { metadata.modified }
}

extension ItemChange {
    package init(_ kind: Kind, _ file: FileItem) { self.init(kind, in: .file, group: file.group, name: file.path) }

    package init(_ kind: Kind, file name: ItemName, in group: String, formerName: ItemName? = nil) {
        self.init(kind, in: .file, group: group, name: name.path, formerName: formerName?.path)
    }
}
