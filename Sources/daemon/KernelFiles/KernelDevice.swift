internal import CKernelFiles
internal import CofferCore
package import CofferSystem
internal import Glibc

/// The kernel's end of a mount: requests are read from it, answers and notices written to it.
///
/// Any thread may write; each write is one message.
package final class KernelDevice: Sendable {
    package let descriptor: OwnedDescriptor

    /// - Parameter descriptor: An open `/dev/fuse` of a mount. It does not block, and no other program can change its flags.
    package init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Opens the device of a mount once more.
    ///
    /// The client shares the flags of the descriptor that it has passed: by them, it could let a read of the daemon wait for ever.
    package convenience init(besides passed: borrowing OwnedDescriptor) throws(SystemError) {
        let own = unsafe open("/proc/self/fd/\(passed.number)", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard own >= 0 else { throw SystemError("open of /dev/fuse") }
        self.init(OwnedDescriptor(owning: own))
        guard coffer_fuse_clone(own, passed.number) == 0 else { throw SystemError("ioctl of /dev/fuse") }
    }

    /// What a read of the device has given.
    enum Arrival {
        case message(byteCount: Int)
        /// None now.
        case nothing
        /// The mount has ended.
        case ended
    }

    /// Reads a message.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Arrival {
        while true {
            let count = unsafe Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
            if count > 0 { return .message(byteCount: count) }
            if count == 0 { return .ended }
            switch errno {
            // A request that was taken back before it was read.
            case EINTR, ENOENT: continue
            case EAGAIN: return .nothing
            default: return .ended
            }
        }
    }

    /// Writes an answer.
    ///
    /// - Returns: Whether the kernel still wanted it.
    @discardableResult
    func answer(_ unique: UInt64, error: Int32 = 0, _ body: RawSpan = RawSpan()) -> Bool {
        let head = fuse_out_header(
            len: UInt32(MemoryLayout<fuse_out_header>.size + body.byteCount),
            error: -error,
            unique: unique
        )
        return write(head, body)
    }

    private func write(_ head: fuse_out_header, _ body: RawSpan) -> Bool {
        unsafe withUnsafeBytes(of: head) { head in
            unsafe body.withUnsafeBytes { body in
                var parts = unsafe [
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: head.baseAddress), iov_len: head.count),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: body.count),
                ]
                return unsafe writev(descriptor.number, &parts, body.isEmpty ? 1 : 2) >= 0
            }
        }
    }

    // MARK: Notices

    // A notice waits for pages that a request in flight holds: it must not come from the thread that answers.

    /// Has the kernel drop the pages and the attributes of a node.
    ///
    /// Before that, the kernel writes changed pages of mapped memory back.
    func dropNode(_ number: UInt64) {
        notify(FUSE_NOTIFY_INVAL_INODE.rawValue, bytes(of: fuse_notify_inval_inode_out(ino: number, off: 0, len: 0)))
    }

    /// Has the kernel look an entry up again.
    func dropEntry(_ name: String, in directory: UInt64) {
        var entry = fuse_notify_inval_entry_out()
        (entry.parent, entry.namelen) = (directory, UInt32(name.utf8.count))
        notify(FUSE_NOTIFY_INVAL_ENTRY.rawValue, bytes(of: entry) + name.utf8 + [0])
    }

    /// Has the kernel look all entries up again, if it is of version 7.44 or later.
    func dropEntries() { notify(UInt32(COFFER_FUSE_NOTIFY_INC_EPOCH), []) }

    /// Has the kernel ask again what another process had read and not answered.
    ///
    /// - Returns: Whether the kernel can.
    package func askAgain() -> Bool { notify(UInt32(COFFER_FUSE_NOTIFY_RESEND), []) }

    @discardableResult
    private func notify(_ code: UInt32, _ body: [UInt8]) -> Bool {
        let head = fuse_out_header(
            len: UInt32(MemoryLayout<fuse_out_header>.size + body.count),
            error: Int32(code),
            unique: 0
        )
        return unsafe write(head, body.span.bytes)
    }
}
