package import CofferCore
package import CofferSystem
internal import Glibc

// Contents as a backup reads them, sealed as they are.

/// How much of a content is on the disk.
package struct StoredContent: Sendable {
    package let id: ItemID
    /// The size of the content; `nil` if there is none.
    package let byteCount: Int64?
    /// The size of its overlay; `nil` if there is none.
    package let overlayByteCount: Int64?
}

extension ContentDirectory {
    /// Finds out how much of a content is on the disk.
    ///
    /// It blocks on the disk: not for the event loop.
    package func stored(_ id: ItemID) throws(SystemError) -> StoredContent {
        StoredContent(
            id: id,
            byteCount: try byteCount(of: id, isOverlay: false),
            overlayByteCount: try byteCount(of: id, isOverlay: true)
        )
    }

    private func byteCount(of id: ItemID, isOverlay: Bool) throws(SystemError) -> Int64? {
        guard let file = try openSealed(id, isOverlay: isOverlay) else { return nil }
        return Int64(try file.status().st_size)
    }

    /// Opens a content, or its overlay, for reading on any thread; `nil` if there is none.
    package func openSealed(_ id: ItemID, isOverlay: Bool) throws(SystemError) -> OwnedDescriptor? {
        let name = isOverlay ? id.hexadecimal + Self.overlaySuffix : id.hexadecimal
        // Between the two looks, the daemon's thread may have linked the staged name to the final path and removed it.
        for _ in 0..<2 { if let found = try find(name, of: id) { return found } }
        return nil
    }
}
