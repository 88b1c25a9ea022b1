internal import CFuse
internal import CofferCore
internal import CofferSystem
internal import Glibc
internal import Synchronization

/// A mount: a session of libfuse, whose requests several threads take.
@safe
final class Session: Watcher.Cache, @unchecked Sendable {
    // Sendable: libfuse permits receiving, processing and notifying on several threads at once.
    private let session: OpaquePointer
    private let filesystem: Filesystem
    private let mountPoint: String

    /// - Parameters:
    ///   - filesystem: What the kernel asks.
    ///   - mountPoint: The absolute path of a directory.
    ///   - isReadOnly: Whether nothing can be changed.
    /// - Throws: `io` if libfuse refuses the options.
    init(_ filesystem: Filesystem, at mountPoint: String, isReadOnly: Bool) throws(CofferError) {
        let options = ["fsname=coffer", "subtype=coffer", "default_permissions", "nosuid", "nodev"]
        let words = ["coffer-mount", "-o", (options + (isReadOnly ? ["ro"] : [])).joined(separator: ",")]
        var operations = Operations.table
        let context = unsafe Unmanaged.passUnretained(filesystem).toOpaque()
        var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        let session = unsafe pointers.withUnsafeMutableBufferPointer { buffer in
            var arguments = unsafe fuse_args(argc: Int32(words.count), argv: buffer.baseAddress, allocated: 0)
            defer { unsafe fuse_opt_free_args(&arguments) }
            return unsafe fuse_session_new(&arguments, &operations, MemoryLayout<fuse_lowlevel_ops>.size, context)
        }
        guard let session = unsafe session else { throw CofferError(.io, "can't make a FUSE session") }
        unsafe self.session = session
        self.filesystem = filesystem
        self.mountPoint = mountPoint
    }

    deinit { unsafe fuse_session_destroy(session) }

    /// Mounts: from now on, programs wait for replies.
    func mount() throws(CofferError) {
        guard unsafe fuse_session_mount(session, mountPoint) == 0 else {
            throw CofferError(
                .io,
                "can't mount at \(quotedForDisplay(mountPoint))",
                hint: "the package fuse3 is needed, and the directory must be yours"
            )
        }
        var device = Self.device
        // Without it, all is as before.
        _ = unsafe fuse_session_custom_io(session, &device, fuse_session_fd(session))
    }

    /// What libfuse reads and writes by.
    ///
    /// The first reply, in which the file system says what it wants of the kernel, says more than libfuse of Debian 12 knows.
    /// Otherwise the kernel would ask before each write whether the file has the capabilities of a program.
    private static var device: fuse_custom_io {
        var device = fuse_custom_io()
        unsafe device.read = { descriptor, buffer, count, _ in unsafe Glibc.read(descriptor, buffer, count) }
        unsafe device.writev = { descriptor, parts, count, context in
            if let context = unsafe context, let parts = unsafe parts {
                let filesystem = unsafe Unmanaged<Filesystem>.fromOpaque(context).takeUnretainedValue()
                if !filesystem.hasReplied.exchange(true, ordering: .relaxed) {
                    unsafe wantWritesWithoutQuestions(UnsafeMutableBufferPointer(start: parts, count: Int(count)))
                }
            }
            return unsafe Glibc.writev(descriptor, parts, count)
        }
        return device
    }

    /// Replies to requests until the file system is unmounted.
    ///
    /// - Parameter threadCount: How many threads do so.
    func run(threadCount: Int) {
        let threads = (1..<threadCount).compactMap { _ in NativeThread.start { [self] in serve() } }
        serve()
        for thread in threads { pthread_join(thread, nil) }
    }

    /// Replies to one request after the other.
    private func serve() {
        var buffer = unsafe fuse_buf()
        var isLocked = false
        defer { unsafe free(buffer.mem) }
        while unsafe fuse_session_exited(session) == 0 {
            let count = unsafe fuse_session_receive_buf(session, &buffer)
            if count == -EINTR { continue }
            if count <= 0 { break }
            if !isLocked, let memory = unsafe buffer.mem {
                // What is written never reaches the swap; a failure leaves the buffer as other memory is.
                isLocked = true
                _ = unsafe mlock(memory, Limits.framePayloadBytes + 4096)
            }
            unsafe fuse_session_process_buf(session, &buffer)
            if let memory = unsafe buffer.mem { unsafe explicit_bzero(memory, Int(count)) }
        }
        unsafe fuse_session_exit(session)
    }

    // MARK: Notifications

    /// Has the kernel drop what it has cached of a file.
    ///
    /// It first writes what programs have changed in mapped memory. Must not be called on a thread that replies.
    func dropCache(of number: UInt64) { _ = unsafe fuse_lowlevel_notify_inval_inode(session, number, 0, 0) }

    /// Has the kernel look up an entry again.
    func dropEntry(_ name: String, in parent: UInt64) {
        _ = unsafe fuse_lowlevel_notify_inval_entry(session, parent, name, strlen(name))
    }
}

/// Adds to the reply to the first request that the file system drops special bits by itself.
///
/// A kernel that does not know the flag ignores it.
///
/// - Parameter parts: The header of a reply, and a `fuse_init_out`.
private func wantWritesWithoutQuestions(_ parts: UnsafeMutableBufferPointer<iovec>) {
    let flagsOffset = 12
    guard parts.count > 1, unsafe parts[1].iov_len > flagsOffset + 4, let answer = unsafe parts[1].iov_base
    else { return }
    let flags = unsafe answer.loadUnaligned(fromByteOffset: flagsOffset, as: UInt32.self)
    // FUSE_HANDLE_KILLPRIV_V2
    unsafe answer.storeBytes(of: flags | 1 << 28, toByteOffset: flagsOffset, as: UInt32.self)
}
