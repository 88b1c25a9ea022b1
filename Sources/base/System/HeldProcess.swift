package import CCofferShims
package import CofferCore
internal import Glibc

/// A process, distinguished from a later one with the same number.
///
/// To trust what was read under its number, check ``isRunning`` afterwards.
package struct HeldProcess: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor
    /// Its number; 0 if it is not visible from this pid namespace.
    package let number: pid_t

    /// Holds the process that connected; `nil` if it has ended.
    ///
    /// Kernels before 6.5 only tell the process that has the number now.
    ///
    /// - Parameters:
    ///   - socket: A connected socket.
    ///   - peer: The peer of the socket.
    package init?(of socket: borrowing OwnedDescriptor, _ peer: PeerIdentity) throws(SystemError) {
        let number = socket.number
        var process = coffer_peer_process(number)
        if process < 0 && errno == ENOPROTOOPT { process = coffer_process_open(peer.credentials.processID) }
        // Kernels before 6.16 have no descriptor for a process that was reaped.
        if process < 0 && (errno == ESRCH || errno == EINVAL) { return nil }
        if process < 0 { throw SystemError("getsockopt") }
        descriptor = OwnedDescriptor(owning: process)
        self.number = peer.credentials.processID
    }

    /// Holds the process that has a number now; `nil` if there is none.
    ///
    /// - Parameter number: The number of a process, not of a thread.
    package init?(numbered number: pid_t) throws(SystemError) {
        let process = coffer_process_open(number)
        if process < 0 && [ESRCH, EINVAL, ENOENT].contains(errno) { return nil }
        if process < 0 { throw SystemError("pidfd_open") }
        descriptor = OwnedDescriptor(owning: process)
        self.number = number
    }

    /// Holds the process of a passed pidfd; `nil` if the descriptor is no pidfd.
    ///
    /// If the process has ended, or is not visible from this pid namespace, ``number`` is not positive.
    package init?(_ passed: consuming PeerDescriptor) throws(SystemError) {
        // Only the kernel is asked: whose file it is, is not known yet.
        let numbers = try ProcessFacts(at: "/proc/self/fdinfo/\(passed.number)").numbers("Pid")
        guard let number = numbers.first.flatMap({ pid_t(exactly: $0) }) else { return nil }
        descriptor = passed.trusted()
        self.number = number
    }

    /// The number of its pidfd, by which it is passed on.
    package var descriptorNumber: Int32 { descriptor.number }

    /// Whether it is running: then what was read under its number before belongs to it.
    package var isRunning: Bool {
        get throws(SystemError) {
            let number = descriptor.number
            return try retrying("poll") { coffer_process_is_running(number) } == 1
        }
    }

    /// Whether it is in another pid namespace, in which case the kernel lists further numbers.
    package var isContained: Bool {
        get throws(SystemError) {
            let facts = try ProcessFacts(at: "/proc/self/fdinfo/\(descriptor.number)")
            return facts.numbers("Pid") == [0] || facts.numbers("NSpid").count > 1
        }
    }

    /// The identity that it would have if it connected now.
    package func identity() throws(SystemError) -> PeerIdentity {
        let facts = try ProcessFacts(at: "/proc/\(number)/status")
        // The real id comes first, then the effective one.
        let (users, groups) = (facts.numbers("Uid"), facts.numbers("Gid"))
        guard users.count > 1, groups.count > 1 else { throw SystemError("read", code: ESRCH) }
        return PeerIdentity(
            credentials: ProcessCredentials(processID: number, userID: uid_t(users[1]), groupID: gid_t(groups[1])),
            supplementaryGroupIDs: Set(facts.numbers("Groups").map { gid_t($0) })
        )
    }

    /// The file of its program; `nil` if it is not visible.
    package var executableFile: ExecutableFile? {
        var (device, inode): (UInt64, UInt64) = (0, 0)
        guard unsafe coffer_file_id("/proc/\(number)/exe", &device, &inode) == 0 else { return nil }
        return ExecutableFile(device: device, inode: inode)
    }

    /// The path of its program, if it leads to the same file in this process' root.
    ///
    /// A replaced or removed program has no path any more, and a path in another root could name any file. The kernel knows
    /// each component of the path of a running program, so that no file system has to answer.
    package var executablePath: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/\(number)/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count, let file = executableFile else { return nil }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var (device, inode): (UInt64, UInt64) = (0, 0)
        guard unsafe coffer_known_file_id(path, &device, &inode) == 0 else { return nil }
        guard ExecutableFile(device: device, inode: inode) == file else { return nil }
        return path
    }
}

extension ClientIdentity {
    /// The identity of a client as far as the kernel knows it.
    ///
    /// - Parameters:
    ///   - peer: Its credentials.
    ///   - process: Its process.
    package init(_ peer: PeerIdentity, _ process: borrowing HeldProcess) throws(SystemError) {
        let credentials = peer.credentials
        let path = process.executablePath
        self.init(
            processID: credentials.processID == 0 ? nil : credentials.processID,
            userID: credentials.userID,
            groupID: credentials.groupID,
            supplementaryGroupIDs: peer.supplementaryGroupIDs,
            executablePath: path,
            executableFile: path == nil ? nil : process.executableFile,
            isContained: try process.isContained
        )
    }
}

/// The facts that the kernel lists about a process, one a line.
private struct ProcessFacts {
    private let lines: [Substring]

    init(at path: String) throws(SystemError) {
        guard let bytes = try OwnedDescriptor.content(ofFile: path, upTo: 1 << 20) else {
            throw SystemError("open", code: ESRCH)
        }
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    /// The numbers of a fact; none if it is missing.
    func numbers(_ name: String) -> [Int64] {
        let line = lines.first { $0.hasPrefix(name + ":") }
        return line.map { $0.split(whereSeparator: \.isWhitespace).dropFirst().compactMap { Int64($0) } } ?? []
    }
}
