internal import Glibc

/// A file that reserves disk space, and is truncated when removals need the space.
///
/// A program that records its removals could otherwise remove nothing from a full disk. Failures are ignored and
/// retried later: work continues without a reserve.
package final class DiskReserve {
    private static let stepBytes = 32 << 10

    private let name: String
    private let byteCount: Int
    private let directory: Directory
    /// The allocated bytes of the file.
    private var heldBytes = 0

    /// Names the file; the space is reserved by the first ``fill()``.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - byteCount: The size of the reserve.
    ///   - directory: Its directory.
    package init(_ name: String, of byteCount: Int, in directory: Directory) {
        self.name = name
        self.byteCount = byteCount
        self.directory = directory
    }

    /// Whether the whole reserve is allocated.
    package var isFull: Bool { heldBytes >= byteCount }

    /// Allocates the reserve, or as much of it as the disk has.
    package func fill() {
        if isFull { return }
        do throws(SystemError) {
            let file = try file()
            let status = try file.status()
            // A copied file may have holes instead of blocks.
            if Int(status.st_blocks) * 512 < Int(status.st_size) { try file.truncate(to: 0) }
            heldBytes = Int(try file.status().st_size)
            for size in stride(from: byteCount, to: heldBytes, by: -Self.stepBytes) {
                let missing = Int64(size - heldBytes)
                guard (try? file.reserve(missing, at: Int64(heldBytes))) != nil else { continue }
                heldBytes = size
                return
            }
        } catch {
            // Without the file there is no reserve.
        }
    }

    /// Releases the reserve if the disk has less free space than its size.
    package func giveUpIfShort() {
        do throws(SystemError) {
            guard let file = try directory.openForWriting(name) else { return }
            if try file.freeBytes() >= byteCount { return }
            heldBytes = 0
            try file.truncate(to: 0)
        } catch {
            // If the removal fails for want of space, it reports that itself.
        }
    }

    private func file() throws(SystemError) -> OwnedDescriptor {
        if let file = try directory.openForWriting(name) { return file }
        return try directory.create(name)
    }
}
