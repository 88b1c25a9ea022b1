internal import CofferCore
internal import CofferMemory
internal import CofferRouting
internal import CofferSystem

/// The content of a put, as far as it had to be read for routing.
struct PutContent: ~Copyable, Sendable {
    /// The bytes that were read, in locked memory.
    let prefix: SecretBytes
    /// The source of the other bytes; `nil` if all were read.
    let rest: PeerStream?

    /// Reads more from the source.
    ///
    /// - Parameter count: The total number of bytes to read.
    consuming func filled(to count: Int) throws(CofferError) -> PutContent {
        guard let stream = rest else { return PutContent(prefix: prefix, rest: nil) }
        do throws(TransferError) { try stream.prepare() } catch { throw error.cofferError }
        if prefix.count >= count { return PutContent(prefix: prefix, rest: stream) }
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: count) } catch { throw .noSecretMemory }
        let firstCount = prefix.count
        prefix.withBytes { bytes.copy($0, to: 0) }
        let added: Int
        do throws(TransferError) {
            added = unsafe try bytes.withUnsafeMutableBytes { (buffer) throws(TransferError) in
                unsafe try stream.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[firstCount...]))
            }
        } catch {
            throw error.cofferError
        }
        bytes.truncate(to: firstCount + added)
        return firstCount + added < count
            ? PutContent(prefix: bytes, rest: nil) : PutContent(prefix: bytes, rest: stream)
    }

    /// The size of the content, as far as it is known.
    var size: RoutingFacts.Size {
        switch rest {
        case .none: return .exactly(Int64(prefix.count))
        case .some(let rest):
            let seen = Int64(prefix.count)
            return rest.remainingByteCount.map { .exactly(seen.nearestSum($0)) } ?? .moreThan(seen)
        }
    }
}
