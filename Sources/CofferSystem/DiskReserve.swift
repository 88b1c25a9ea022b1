internal import Glibc

/// Room on the disk that is kept for what makes room: a file that has its blocks, and is given up when they are needed.
///
/// Without it, nothing could be removed from a full disk by a program that has to write down what it removes. What fails is
/// left for later: a reserve is no reason not to work.
package final class DiskReserve {
    private static let stepBytes = 32 << 10

    private let name: String
    private let byteCount: Int
    private let directory: Directory
    /// The bytes that the file has on the disk.
    private var heldBytes = 0

    /// Names the file; the room is kept from the first ``fill()`` on.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - byteCount: How much room to keep.
    ///   - directory: Where.
    package init(_ name: String, of byteCount: Int, in directory: Directory) {
        self.name = name
        self.byteCount = byteCount
        self.directory = directory
    }

    /// Whether all of the room is kept.
    package var isFull: Bool { heldBytes >= byteCount }

    /// Keeps the room, or as much as there is of it.
    package func fill() {
        if isFull { return }
        do throws(SystemError) {
            let file = try file()
            let status = try file.status()
            // A copy of the file may have holes in place of blocks.
            if Int(status.st_blocks) * 512 < Int(status.st_size) { try Self.empty(file) }
            heldBytes = Int(try file.status().st_size)
            for size in stride(from: byteCount, to: heldBytes, by: -Self.stepBytes) {
                let missing = Int64(size - heldBytes)
                guard (try? file.reserve(missing, at: Int64(heldBytes))) != nil else { continue }
                heldBytes = size
                return
            }
        } catch {
            // There is none, then.
        }
    }

    /// Gives the room up, if the disk has less than that besides.
    package func giveUpIfShort() {
        do throws(SystemError) {
            guard let file = try directory.openForWriting(name) else { return }
            if try file.freeBytes() >= byteCount { return }
            heldBytes = 0
            try Self.empty(file)
        } catch {
            // What the room was for says why it fails.
        }
    }

    private func file() throws(SystemError) -> OwnedDescriptor {
        if let file = try directory.openForWriting(name) { return file }
        return try directory.create(name)
    }

    private static func empty(_ file: borrowing OwnedDescriptor) throws(SystemError) {
        let number = file.number
        _ = try retrying("ftruncate") { ftruncate(number, 0) }
    }
}

extension OwnedDescriptor {
    /// The bytes that may be written to the file system of a file.
    fileprivate borrowing func freeBytes() throws(SystemError) -> Int {
        var disk = statvfs()
        _ = try retrying("fstatvfs") { unsafe fstatvfs(number, &disk) }
        return Int(clamping: UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize)).partialValue)
    }
}
