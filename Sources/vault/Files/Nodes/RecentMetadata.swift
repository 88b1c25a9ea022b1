internal import CofferCore

/// The metadata that was sealed before the first unlock, since the daemon started.
///
/// What is sealed to the public key can't be opened again until the passcode is given; a file that was just created is
/// written, synced and moved all the same. It knows nothing that a client has not just said, and is asked with the
/// sealed bytes of a row, so that it never differs from the catalog.
package final class RecentMetadata {
    private struct Version {
        let sealed: [UInt8]
        let metadata: NodeMetadata
    }

    /// Of each row what it had when it was last read, and what was sealed since: a transaction may be rolled back.
    private var versions: [Int64: [Version]] = [:]
    /// The rows, the oldest first.
    private var order: [Int64] = []
    /// Whether a row is that of an open file, which is never forgotten: what is written to it is synced later.
    package var isInUse: (Int64) -> Bool = { _ in false }

    package init() {}

    /// Keeps the metadata of a row that is being sealed.
    ///
    /// - Parameters:
    ///   - metadata: The metadata.
    ///   - sealed: What it was sealed to.
    ///   - row: The number of the row.
    package func keep(_ metadata: NodeMetadata, as sealed: [UInt8], of row: Int64) {
        let version = Version(sealed: sealed, metadata: metadata)
        if let known = versions[row]?.first {
            versions[row] = [known, version]
        } else {
            versions[row] = [version]
            order.append(row)
        }
        if order.count > 2 * Limits.openFiles { forgetOldest() }
    }

    /// The metadata of a row; `nil` if it is not known.
    package func metadata(of row: Int64, as sealed: [UInt8]) -> NodeMetadata? {
        guard let version = versions[row]?.last(where: { $0.sealed == sealed }) else { return nil }
        versions[row] = [version]
        return version.metadata
    }

    private func forgetOldest() {
        let oldest = order.prefix(order.count / 2)
        let kept = oldest.filter(isInUse)
        for row in oldest where !kept.contains(row) { versions[row] = nil }
        order.replaceSubrange(..<oldest.endIndex, with: kept)
    }

    package func forget() { (versions, order) = ([:], []) }
}
