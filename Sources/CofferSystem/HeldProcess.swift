package import CCofferShims
package import CofferCore
internal import Glibc

/// A process that is told from another one which gets its number later.
///
/// What is read under the number was of this process where it still runs afterwards: ``isRunning`` comes last.
package struct HeldProcess: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor
    /// Its number; 0 where that can't be seen from here.
    package let number: pid_t

    /// Takes hold of the process that connected; `nil` where it is gone.
    ///
    /// Kernels before 6.5 can't tell which process connected, only which one has its number now.
    ///
    /// - Parameters:
    ///   - socket: A connected socket.
    ///   - peer: Who connected.
    package init?(of socket: borrowing OwnedDescriptor, _ peer: PeerIdentity) throws(SystemError) {
        let number = socket.number
        var process = coffer_peer_process(number)
        if process < 0 && errno == ENOPROTOOPT { process = coffer_process_open(peer.credentials.processID) }
        // Kernels before 6.16 have no descriptor for one that was waited for.
        if process < 0 && (errno == ESRCH || errno == EINVAL) { return nil }
        descriptor = OwnedDescriptor(owning: try SystemError.check("getsockopt", process))
        self.number = peer.credentials.processID
    }

    /// Takes hold of the process that has a number now; `nil` where none has.
    ///
    /// - Parameter number: The number: of a process, and not of one of its threads.
    package init?(numbered number: pid_t) throws(SystemError) {
        let process = coffer_process_open(number)
        if process < 0 && [ESRCH, EINVAL, ENOENT].contains(errno) { return nil }
        descriptor = OwnedDescriptor(owning: try SystemError.check("pidfd_open", process))
        self.number = number
    }

    /// Whether it has not ended: then what was read of the process of its number was of this one.
    package var isRunning: Bool {
        get throws(SystemError) {
            let number = descriptor.number
            return try retrying("poll") { coffer_process_is_running(number) } == 1
        }
    }

    /// Whether it is in another pid namespace than this process: the numbers that it has there follow the one that it has here.
    package var isContained: Bool {
        get throws(SystemError) {
            let facts = try ProcessFacts(at: "/proc/self/fdinfo/\(descriptor.number)")
            return facts.numbers("Pid") == [0] || facts.numbers("NSpid").count > 1
        }
    }

    /// Who it is now, as if it connected.
    package func identity() throws(SystemError) -> PeerIdentity {
        let facts = try ProcessFacts(at: "/proc/\(number)/status")
        // The real one comes first, then the effective one.
        let (users, groups) = (facts.numbers("Uid"), facts.numbers("Gid"))
        guard users.count > 1, groups.count > 1 else { throw SystemError("read", code: ESRCH) }
        return PeerIdentity(
            ProcessCredentials(processID: number, userID: uid_t(users[1]), groupID: gid_t(groups[1])),
            supplementaryGroupIDs: Set(facts.numbers("Groups").map { gid_t($0) })
        )
    }

    /// The file of its program; `nil` where that can't be seen.
    package var executableFile: ExecutableFile? {
        var status = stat()
        return unsafe stat("/proc/\(number)/exe", &status) == 0 ? ExecutableFile(status) : nil
    }

    /// The path of its program, where that leads to it for us, too.
    ///
    /// A program that was replaced or removed has no path any more, and one in another root has ours by its own word only.
    package var executablePath: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/\(number)/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count, let file = executableFile else { return nil }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var named = stat()
        guard unsafe lstat(path, &named) == 0, ExecutableFile(named) == file else { return nil }
        return path
    }
}

extension ExecutableFile {
    fileprivate init(_ status: stat) { self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) }
}

extension ClientIdentity {
    /// What the kernel alone tells of a client.
    ///
    /// - Parameters:
    ///   - peer: Who it is.
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

/// What the kernel says of a process in a file with a line for each fact.
private struct ProcessFacts {
    private let lines: [Substring]

    init(at path: String) throws(SystemError) {
        switch try OwnedDescriptor(openingIfPresent: path) {
        case .none: throw SystemError("open", code: ESRCH)
        case .some(let file):
            let text = String(decoding: try file.content(upTo: 1 << 20), as: UTF8.self)
            lines = text.split(separator: "\n")
        }
    }

    /// The numbers of a fact; none where there is no such fact.
    func numbers(_ name: String) -> [Int64] {
        let line = lines.first { $0.hasPrefix(name + ":") }
        return line.map { $0.split(whereSeparator: \.isWhitespace).dropFirst().compactMap { Int64($0) } } ?? []
    }
}
