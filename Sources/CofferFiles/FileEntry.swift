package import CofferCore

/// An entry of the tree: a file or a directory.
package struct FileEntry {
    let node: FileTree.Node
    /// The path.
    package let path: String

    /// Whether it is a directory.
    package var isDirectory: Bool { node.kind == .directory }
    /// The class of a file, or the default class of a directory for new files; `nil` if the directory has none.
    package var protectionClass: ProtectionClass? {
        isDirectory ? node.metadata.defaultClass : node.protectionClass
    }
    package var metadata: NodeMetadata { node.metadata }
    /// The file; `nil` for a directory.
    package var file: FileItem? { FileItem(node, path: path) }
    /// Whether it is a directory that was created explicitly.
    package var staysWhenEmpty: Bool { isDirectory && metadata.flags.contains(.stays) }
    /// The name in quotes, for a sentence.
    package var quoted: String { quotedForDisplay(path) }
}

extension FileItem {
    /// Creates a file from a node; `nil` for a directory.
    init?(_ node: FileTree.Node, path: String) {
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
            wrappedKey: node.wrappedKey
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

    /// The error if a part of a path is a file.
    static func fileInTheWay(_ name: ItemName) -> CofferError {
        CofferError(
            .param,
            "can't store \(name.quoted): the path, or a part of it, is taken by a file or a directory",
            hint: "'coffer list' shows what is there"
        )
    }
}
