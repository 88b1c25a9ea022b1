internal import CKernelFiles
internal import CofferCore

/// What the kernel can, and what both sides use of it: agreed in the first message, and never again.
package struct KernelAbilities: Equatable, Sendable {
    /// The version of the protocol, after the 7.
    package let version: UInt32
    private let flags: UInt64
    private let readAheadBytes: UInt32

    init(_ offer: fuse_init_in) {
        version = offer.major == 7 ? offer.minor : 0
        readAheadBytes = offer.max_readahead
        // The second word counts only if the kernel says so.
        let isExtended = offer.flags & UInt32(FUSE_INIT_EXT) != 0
        flags = UInt64(offer.flags) | (isExtended ? UInt64(offer.flags2) << 32 : 0)
    }

    /// - Parameters:
    ///   - version: The version, after the 7.
    ///   - isResendable: Whether the kernel sends requests again.
    package init(version: UInt32, isResendable: Bool) {
        self.version = version
        flags = isResendable ? UInt64(COFFER_FUSE_HAS_RESEND) : 0
        readAheadBytes = 0
    }

    /// Whether a mount can be served: Linux 5.4 has version 7.31.
    var suffices: Bool { version >= 31 && flags & UInt64(FUSE_MAX_PAGES) != 0 }

    /// Whether the kernel can be told to look all entries up again.
    var dropsEntries: Bool { version >= 44 }

    /// Whether the kernel asks another process again what this one had read and not answered.
    package var isResendable: Bool { flags & UInt64(COFFER_FUSE_HAS_RESEND) != 0 }

    /// What the file system wants of the kernel.
    ///
    /// Not wanted are: pipes, in which nothing can be wiped; a cache of writes, which would be acknowledged and then lost at a
    /// lock; and the dropping of cached content at each new time of change, also of the kernel's own writes: while one is in
    /// flight, it would read the content before, and keep that.
    private static let wanted: UInt64 =
        UInt64(FUSE_ASYNC_READ) | UInt64(FUSE_ATOMIC_O_TRUNC) | UInt64(FUSE_BIG_WRITES) | UInt64(FUSE_DO_READDIRPLUS)
        | UInt64(FUSE_PARALLEL_DIROPS) | UInt64(FUSE_MAX_PAGES) | UInt64(FUSE_CACHE_SYMLINKS)
        | UInt64(FUSE_NO_OPENDIR_SUPPORT) | UInt64(FUSE_EXPLICIT_INVAL_DATA) | UInt64(FUSE_HANDLE_KILLPRIV_V2)
        | UInt64(bitPattern: Int64(FUSE_INIT_EXT)) | UInt64(COFFER_FUSE_HAS_RESEND)

    /// The answer to the first message.
    var answer: fuse_init_out {
        let agreed = flags & Self.wanted
        var answer = fuse_init_out()
        answer.major = UInt32(FUSE_KERNEL_VERSION)
        answer.minor = min(version, UInt32(FUSE_KERNEL_MINOR_VERSION))
        answer.max_readahead = min(readAheadBytes, UInt32(Limits.framePayloadBytes))
        answer.flags = UInt32(truncatingIfNeeded: agreed)
        answer.flags2 = UInt32(truncatingIfNeeded: agreed >> 32)
        answer.max_background = UInt16(Limits.kernelRequestsInBackground)
        answer.congestion_threshold = UInt16(Limits.kernelRequestsInBackground * 3 / 4)
        answer.max_write = UInt32(Limits.framePayloadBytes)
        answer.max_pages = UInt16(Limits.framePayloadBytes / 4096)
        answer.time_gran = 1
        return answer
    }
}
