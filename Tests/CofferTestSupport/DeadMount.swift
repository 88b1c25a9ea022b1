import CofferSystem
import Foundation

/// A FUSE file system with one file, `f`, that answers until it is told to answer no more.
///
/// It takes the kernel's requests even then: a process that waits for one can't be killed until the mount is ended.
package final class DeadMount: Sendable {
    private let directory: TemporaryDirectory
    private let device: Int32
    private let mouth: Pipe

    /// Whether this process may mount; only root does so without a helper.
    package static var isPossible: Bool { geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0 }

    package init() throws {
        directory = try TemporaryDirectory()
        device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
        guard device >= 0 else { throw SystemError("open") }
        mouth = Pipe()
        let options = "fd=\(device),rootmode=40755,user_id=\(geteuid()),group_id=\(getegid())"
        let isMounted = mount("dead", directory.path, "fuse", UInt(MS_NOSUID | MS_NODEV), options) == 0
        guard isMounted else { throw SystemError("mount") }
        let (device, mouth) = (device, mouth)
        Thread { Self.serve(device, until: mouth) }.start()
    }

    deinit { end() }

    /// The path of its file.
    package var filePath: String { "\(directory.path)/f" }

    /// Answers no more.
    package func die() { try? mouth.fileHandleForWriting.close() }

    /// Ends the mount: whoever waits for it goes on, with an error.
    package func end() {
        umount2(directory.path, Int32(MNT_DETACH))
        // The last descriptor ends the connection, also while a thread reads from it.
        _ = dup2(mouth.fileHandleForReading.fileDescriptor, device)
    }

    // MARK: The kernel's messages

    private static func serve(_ device: Int32, until mouth: Pipe) {
        var request = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            var wanted = [pollfd(fd: device, events: Int16(POLLIN), revents: 0)]
            wanted.append(pollfd(fd: mouth.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0))
            let isDead = poll(&wanted, 2, -1) < 0 || wanted[1].revents != 0
            if isDead && wanted[0].revents == 0 {
                // What comes from now on is taken, and not answered.
                wanted.removeLast()
                poll(&wanted, 1, 100)
            }
            if wanted[0].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return }
            if wanted[0].revents == 0 { continue }
            let count = read(device, &request, request.count)
            if count < 40 {
                if count < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT) { continue }
                return
            }
            guard !isDead, let answer = answer(to: Array(request.prefix(count))) else { continue }
            _ = write(device, answer, answer.count)
        }
    }

    private static func answer(to request: [UInt8]) -> [UInt8]? {
        let operation = number(request, 4, 4)
        let node = number(request, 16, 8)
        let name = String(decoding: request.dropFirst(40).prefix { $0 != 0 }, as: UTF8.self)
        var body: [UInt8] = []
        var failure: Int32 = 0
        switch operation {
        case 2, 42: return nil
        case 26: body = bytes(7, 4) + bytes(31, 4) + bytes(0, 12) + bytes(65_536, 4) + bytes(1, 4) + bytes(0, 36)
        case 1 where name == "f": body = bytes(2, 8) + bytes(0, 32) + attributes(of: 2)
        case 1: failure = -ENOENT
        case 3: body = bytes(0, 16) + attributes(of: node)
        case 4: body = bytes(0, 16) + attributes(of: node)
        case 14, 27: body = bytes(0, 16)
        case 25, 18, 29: break
        default: failure = -ENOSYS
        }
        if failure != 0 { body = [] }
        let head = bytes(UInt64(16 + body.count), 4) + bytes(UInt64(UInt32(bitPattern: failure)), 4)
        return head + request[8..<16] + body
    }

    private static func attributes(of node: UInt64) -> [UInt8] {
        let mode = node == 1 ? UInt64(S_IFDIR | 0o755) : UInt64(S_IFREG | 0o600)
        return bytes(node, 8) + bytes(1 << 20, 8) + bytes(2048, 8) + bytes(0, 36) + bytes(mode, 4) + bytes(1, 4)
            + bytes(UInt64(geteuid()), 4) + bytes(UInt64(getegid()), 4) + bytes(0, 4) + bytes(4096, 4) + bytes(0, 4)
    }

    private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) : 0 }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
    }
}
