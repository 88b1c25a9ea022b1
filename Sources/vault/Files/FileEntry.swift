package import CofferCore

/// An entry of the tree: a file, a directory or a symbolic link.
package struct FileEntry {
    let node: FileTree.Node
    /// The path.
    package let path: String
    /// The row that the path leads to; `nil` for that of the file.
    var name: FileTree.NameRow?
    /// The open file, if it has lost its name.
    var orphan: OpenFile?

    /// Whether it is a directory.
    package var isDirectory: Bool { node.kind == .directory }
    /// The class of a file, or the default class of a directory for new files; `nil` if the directory has none.
    package var protectionClass: ProtectionClass? {
        isDirectory ? node.metadata.defaultClass : node.protectionClass
    }
    /// Whether it can have a class: a symbolic link has none.
    package var hasClass: Bool { isDirectory || node.kind == .file }
    package var metadata: NodeMetadata { node.metadata }
    /// The number that all names of it share, and that nothing else ever gets.
    package var inode: Int64 { node.id }
    /// What it is.
    package var type: FileType {
        switch node.kind {
        case .directory: .directory
        case .file, .hardLink: .file
        case .symbolicLink: .symbolicLink
        }
    }
    /// The permission bits of POSIX: those that were stated, or else the usual ones.
    package var mode: UInt16 {
        switch node.kind {
        case .directory: metadata.ownership.mode ?? 0o755
        case .file, .hardLink: metadata.ownership.mode ?? 0o644
        case .symbolicLink: 0o777
        }
    }
    /// The file; `nil` for anything else.
    package var file: FileItem? { FileItem(node, path: path, name) }
    /// Whether it is a directory that was created explicitly.
    package var staysWhenEmpty: Bool { isDirectory && metadata.flags.contains(.stays) }
    /// The name in quotes, for a sentence.
    package var quoted: String { quotedForDisplay(path) }
}

extension FileItem {
    /// Creates a file from a node; `nil` for anything else.
    init?(_ node: FileTree.Node, path: String, _ name: FileTree.NameRow? = nil) {
        guard node.kind == .file, let protectionClass = node.protectionClass, let content = node.content else {
            return nil
        }
        self.init(
            node: node.id,
            parent: node.parent,
            metadata: node.metadata,
            path: path,
            protectionClass: protectionClass,
            content: content,
            wrappedKey: node.wrappedKey,
            name: name ?? FileTree.NameRow(id: node.id, parent: node.parent)
        )
    }
}

extension CofferError {
    /// The error if nothing is at a path.
    static func noEntry(_ name: ItemName) -> CofferError {
        CofferError(
            .itemNotFound,
            "there is no file or directory \(name.quoted)",
            hint: "'coffer file list' shows what there is"
        )
    }

    /// The error if a part of a path is no directory, or the path is no file.
    static func fileInTheWay(_ name: ItemName, _ reason: ErrorReason = .notDirectory) -> CofferError {
        let obstacle =
            switch reason {
            case .isDirectory: "it is a directory"
            case .isSymbolicLink: "it is a symbolic link, and none is followed"
            default: "a part of the path is a file"
            }
        return CofferError(
            .param,
            "can't store \(name.quoted): \(obstacle)",
            hint: "'coffer file list' shows what is there",
            reason: reason
        )
    }
}
