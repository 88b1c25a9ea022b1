internal import CofferCore
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory
internal import CofferPast

// Rows outside of the tree: they leave it unopened, and come back. The content stays on the disk, with the rows of its
// rewritten chunks.

/// The row of a file outside of the tree, opened.
struct OpenedImage {
    let image: RowImage
    let protectionClass: ProtectionClass
    let metadata: NodeMetadata

    var content: ItemID { image.id }
}

extension FileTree.Columns {
    /// The columns of a file outside of the tree.
    init(_ image: RowImage) {
        self.init(
            id: image.node,
            parent: image.parent,
            kind: .file,
            classKey: Int64(image.classKey),
            content: image.id,
            wrappedKey: image.wrappedKey,
            target: nil
        )
    }
}

extension FileTree {
    /// The row of a file as it is; `nil` if there is none.
    ///
    /// - Throws: `decode` if it has impossible values.
    func image(of node: Int64, _ subject: String) throws -> RowImage? {
        try row(numbered: node) { row -> RowImage? in
            let columns = try columns(of: row, subject)
            guard let content = columns.content else { return nil }
            return RowImage(
                id: content,
                node: columns.id,
                parent: columns.parent,
                classKey: UInt8(truncatingIfNeeded: columns.classKey),
                tag: try row.blob(2),
                metadata: try row.blob(7),
                wrappedKey: columns.wrappedKey
            )
        } ?? nil
    }

    /// Opens the row of a file outside of the tree.
    ///
    /// - Throws: `decode` if it is damaged; `interactionNotAllowed` before the first unlock, if the passcode protects its
    ///   name.
    func opened(_ image: RowImage, _ subject: String) throws -> OpenedImage {
        let columns = FileTree.Columns(image)
        do {
            guard let protectionClass = columns.protectionClass else { throw ByteReader.Malformed() }
            let context = Self.context(columns, image.tag)
            let opened = unsafe try keys.openNames(image.metadata.span.bytes, of: .files, context: context)
            let metadata = try NodeMetadata(decoding: opened.exposeBytes())
            return OpenedImage(image: image, protectionClass: protectionClass, metadata: metadata)
        } catch let error as KeyError {
            throw error == .damaged
                ? CofferError.damaged(subject, found: "its metadata is not authentic")
                : error.cofferError(subject, in: keys.state, for: .read)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its row has an unknown form")
        }
    }
}
