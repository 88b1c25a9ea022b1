internal import CofferCore

/// The metadata that was sealed before the first unlock, since the daemon started.
///
/// What is sealed to the public key can't be opened again until the passcode is given; a file that was just created is
/// written, synced and moved all the same. It knows nothing that a client has not just said, and is asked with the
/// sealed bytes of a row, so that it never differs from the catalog.
final class RecentMetadata {
    private var metadata: [[UInt8]: NodeMetadata] = [:]
    /// What was sealed, the oldest first.
    private var order: [[UInt8]] = []

    func keep(_ new: NodeMetadata, as sealed: [UInt8]) {
        metadata[sealed] = new
        order.append(sealed)
        guard order.count > 2 * Limits.openFiles else { return }
        for oldest in order.prefix(Limits.openFiles) { metadata[oldest] = nil }
        order.removeFirst(Limits.openFiles)
    }

    subscript(sealed: [UInt8]) -> NodeMetadata? { metadata[sealed] }

    func forget() { (metadata, order) = ([:], []) }
}
