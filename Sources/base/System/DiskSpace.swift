internal import Glibc

/// The space of a file system, in bytes.
package struct DiskSpace: Equatable, Sendable {
    package let totalByteCount: Int64
    package let freeByteCount: Int64
    /// What a process without privileges may still use.
    package let availableByteCount: Int64
}

extension OwnedDescriptor {
    /// The space of the file system that it is on.
    borrowing func diskSpace() throws(SystemError) -> DiskSpace {
        var disk = statvfs()
        _ = try retrying("fstatvfs") { unsafe fstatvfs(number, &disk) }
        func byteCount(_ blocks: UInt) -> Int64 {
            let (product, isBeyond) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
            return isBeyond ? .max : Int64(clamping: product)
        }
        return DiskSpace(
            totalByteCount: byteCount(disk.f_blocks),
            freeByteCount: byteCount(disk.f_bfree),
            availableByteCount: byteCount(disk.f_bavail)
        )
    }
}

extension Directory {
    /// The space of the file system that it is on.
    package func diskSpace() throws(SystemError) -> DiskSpace { try descriptor.diskSpace() }
}
