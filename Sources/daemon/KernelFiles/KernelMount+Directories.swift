internal import CKernelFiles
internal import CofferCore
internal import CofferFiles
internal import CofferVault
internal import Glibc

// Listings: a part at a time, by cookies that hold whatever is made or removed meanwhile.
extension KernelMount {
    /// Lists entries of a directory from a cookie on.
    ///
    /// - Parameter isWhole: Whether the kernel wants their attributes as well: it has then looked each of them up.
    func list(_ cookie: UInt64, _ byteCount: Int, _ isWhole: Bool, _ request: KernelRequest) throws -> Step {
        var page = DirectoryPage(byteCount: min(byteCount, Limits.framePayloadBytes), isWhole: isWhole)
        if nodes.removedDirectory(request.node) != nil { return request.end(page.answer) }
        if cookie == 0 {
            request.name = try? path(of: request.node)
            let own = try attributes(of: request.node)
            if own.type != .directory { throw Errno(ENOTDIR) }
        }
        for (own, name) in [(UInt64(1), "."), (2, "..")] where cookie < own {
            guard page.add(name, number: request.node, type: .directory, cookie: own) else {
                return request.end(page.answer)
            }
        }
        return try list(after: cookie < 3 ? nil : cookie, page, isWhole, request)
    }

    /// Adds entries to a part of a listing until it is full.
    ///
    /// The kernel takes an empty part for the end, but entries that can be shown may follow many that can't.
    private func list(
        after cookie: UInt64?,
        _ begun: DirectoryPage,
        _ isWhole: Bool,
        _ request: KernelRequest
    ) throws -> Step {
        var page = begun
        let found = try store.numbered.entries(
            inDirectory: row(request.node),
            of: group,
            after: cookie,
            limit: min(page.roomForEntries, Limits.entriesPerQuantum)
        )
        for entry in found.entries {
            let attributes = isWhole ? self.entry(entry.attributes) : nil
            let number = UInt64(clamping: entry.attributes.inode)
            let type = entry.attributes.type
            guard page.add(entry.name, number: number, type: type, cookie: entry.cookie, attributes) else {
                return request.end(page.answer)
            }
        }
        guard !found.isEnd, page.roomForEntries > 0, let last = found.last else { return request.end(page.answer) }
        return .again { [self, page] in
            do { return try list(after: last, page, isWhole, request) } catch let failure as Errno {
                return request.end(.failure(failure))
            }
        }
    }
}

/// A part of a listing, as the kernel reads it.
private struct DirectoryPage {
    private let byteCount: Int
    private let isWhole: Bool
    private var bytes: [UInt8] = []
    /// The nodes that the kernel has looked up with it.
    private var numbers: [UInt64] = []

    init(byteCount: Int, isWhole: Bool) {
        self.byteCount = byteCount
        self.isWhole = isWhole
        bytes.reserveCapacity(byteCount)
    }

    var answer: KernelAnswer { .nodes(numbers, bytes) }

    /// How many entries with the shortest names have room.
    var roomForEntries: Int { (byteCount - bytes.count) / size(of: "") }

    private func size(of name: String) -> Int {
        let head = isWhole ? MemoryLayout<fuse_direntplus>.size : MemoryLayout<fuse_dirent>.size
        return (head + name.utf8.count + 7) & ~7
    }

    /// Adds an entry.
    ///
    /// - Parameter entry: What the kernel learns of it; `nil` for the directory's own two entries, and if it wants none.
    /// - Returns: Whether there was room.
    mutating func add(
        _ name: String,
        number: UInt64,
        type: FileType,
        cookie: UInt64,
        _ entry: fuse_entry_out? = nil
    ) -> Bool {
        let size = size(of: name)
        guard size <= byteCount - bytes.count else { return false }
        let end = bytes.count + size
        var head = fuse_dirent()
        (head.ino, head.off) = (number, cookie)
        (head.namelen, head.type) = (UInt32(name.utf8.count), type.modeBits >> 12)
        if isWhole { bytes += CofferKernelFiles.bytes(of: entry ?? fuse_entry_out()) }
        unsafe withUnsafeBytes(of: head) { unsafe bytes.append(contentsOf: $0.prefix(Self.direntBytes)) }
        bytes += name.utf8
        while bytes.count < end { bytes.append(0) }
        if entry != nil { numbers.append(number) }
        return true
    }

    /// The bytes of an entry before its name.
    private static let direntBytes = 24
}
