import CCofferShims
import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Peers that break off, dribble, and pass what they should not: the others are served, and nothing of it stays.
@Suite struct HostilePeerTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: nil)
        try daemon.connect().put("secret", [1, 2, 3])
        return daemon
    }

    /// Does something to a daemon: afterwards it holds what it held, and has stored nothing more.
    private func expectNothingStays(of daemon: DaemonProcess, _ body: () throws -> Void) throws {
        let before = try Footprint(of: daemon)
        try body()
        // An idle client may have been disconnected, and closed connections may still fill the table: it connects again.
        let isServed = settles { (try? daemon.connect().get("secret")) == [1, 2, 3] }
        #expect(isServed)
        #expect(try daemon.connect().list().items.map(\.name) == ["secret"])
        let isBack = try settles { try Footprint(of: daemon).isBack(to: before, moreKiB: 16 << 10) }
        let after = try Footprint(of: daemon)
        #expect(isBack, "\(before), and then \(after)")
    }

    @Test func `a frame of any kind that breaks off at any byte does nothing`() throws {
        let daemon = try vault()
        let pipe = try PipeEnds()
        let frames: [(bytes: [UInt8], passed: [Int32])] = [
            (HostilePeer.frame(.itemRemove, ["name": "secret"]), []),
            (HostilePeer.frame(.itemPut, ["name": "x"], payload: Array(0..<40)), []),
            (HostilePeer.frame(.itemPut, ["name": "x", "kind": "document"]), [pipe.reading]),
            (Array("\0\0\0\u{4}\0\0\0\u{2}nullxy".utf8), []),
        ]
        try expectNothingStays(of: daemon) {
            for frame in frames {
                for count in 1..<frame.bytes.count {
                    let peer = try HostilePeer(daemon)
                    _ = peer.send(Array(frame.bytes.prefix(count)), passing: frame.passed)
                }
            }
        }
        close(pipe.reading)
        close(pipe.writing)
    }

    @Test func `a conversation is the same in pieces of 1 to 143 bytes`() throws {
        let daemon = try vault()
        let conversation =
            HostilePeer.frame(.itemPut, ["name": "x"], payload: Array(0..<200), id: 1)
            + HostilePeer.frame(.itemShow, ["name": "x"], id: 2) + HostilePeer.frame(.itemRemove, ["name": "x"], id: 3)
            + HostilePeer.frame(.itemShow, ["name": "x"], id: 4)
        try expectNothingStays(of: daemon) {
            for size in 1...143 {
                let peer = try HostilePeer(daemon)
                for start in stride(from: 0, to: conversation.count, by: size) {
                    peer.send(Array(conversation[start..<min(conversation.count, start + size)]))
                }
                let replies = try peer.replies(4)
                #expect(replies.compactMap { $0.objectValue?["id"]?.integerValue } == [1, 2, 3, 4])
                #expect(replies.map { $0.errorCode != nil } == [false, false, false, true], "pieces of \(size)")
            }
        }
    }

    @Test func `descriptors of every kind, and however many, are refused or used, and closed`() throws {
        let daemon = try vault()
        let path = daemon.directory.path
        let listener = try UnixSocket.listen(at: "\(path)/listener")
        var datagrams: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &datagrams) == 0)
        let onlyPath: Int32 = 0x20_0000
        let kinds: [Int32] = [
            open("/dev/null", O_RDWR), open(path, O_RDONLY), open(path, onlyPath), listener.number, datagrams[0],
            open("/dev/full", O_WRONLY), open("/dev/zero", O_RDONLY), open("/proc/self/mem", O_RDWR),
        ]
        #expect(!kinds.contains(-1))
        let methods: [(Method, JSONObject)] = [
            (.vaultStatus, [:]), (.itemPut, ["name": "../x", "kind": "document"]), (.itemGet, ["name": "none"]),
            (.keychainFind, ["class": "key"]), (.fileWrite, ["handle": 1]), (.itemShow, ["name": "none"]),
        ]
        try expectNothingStays(of: daemon) {
            for (method, params) in methods {
                let frame = HostilePeer.frame(method, params)
                for kind in kinds {
                    let peer = try HostilePeer(daemon)
                    let isSent = peer.send(frame, passing: [kind], credentials: true)
                    #expect(isSent)
                    let replies = try peer.replies(1)
                    #expect(replies.first?.errorCode != nil, "\(method) \(kind)")
                }
                for count in [2, 3, 253] {
                    let peer = try HostilePeer(daemon)
                    let isSent = peer.send(frame, passing: Array(repeating: kinds[0], count: count))
                    #expect(isSent)
                    #expect(try peer.replies().first?.errorCode == "param")
                }
            }
        }
        for kind in kinds where kind != listener.number { close(kind) }
        close(datagrams[1])
    }

    @Test func `what is no stream of bytes is param where content is to come from it`() throws {
        let daemon = try vault()
        let path = daemon.directory.path
        let listener = try UnixSocket.listen(at: "\(path)/listener")
        var datagrams: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &datagrams) == 0)
        let kinds: [(name: String, number: Int32)] = [
            ("a directory", open(path, O_RDONLY)), ("a place only", open("/dev/null", 0x20_0000)),
            ("a socket that listens", listener.number), ("a datagram socket", datagrams[0]),
            ("an event queue", epoll_create1(0)),
            ("a watch of files", inotify_init1(0)), ("what can't be read", open("/dev/full", O_WRONLY)),
        ]
        try expectNothingStays(of: daemon) {
            for kind in kinds {
                #expect(kind.number >= 0, "\(kind.name)")
                let peer = try HostilePeer(daemon)
                let isSent = peer.send(
                    HostilePeer.frame(.itemPut, ["name": "x", "kind": "document"]),
                    passing: [kind.number]
                )
                #expect(isSent)
                #expect(try peer.replies(1).first?.errorCode == "param", "\(kind.name)")
            }
        }
        for kind in kinds where kind.number != listener.number { close(kind.number) }
        close(datagrams[1])
    }

    @Test func `a peer that disconnects right after its request breaks nothing`() throws {
        let daemon = try vault()
        // What would change the vault is asked for with parameters that it refuses, or about what is not there.
        let params: JSONObject = ["name": "nobody", "to": "x", "handle": 1, "class": "key", "offset": 0, "length": 1]
        func askAndGo() throws {
            for method in Method.allCases where ![.itemPut, .fileOpen, .fileMkdir, .passcodeSet].contains(method) {
                for count in 1...8 {
                    let peer = try HostilePeer(daemon)
                    let frame = HostilePeer.frame(method, count.isMultiple(of: 2) ? params : [:], payload: [1, 2])
                    for _ in 0..<count { peer.send(frame) }
                }
            }
        }
        // Some methods open for good what they need: once, and not once a peer.
        try askAndGo()
        #expect(settles { (try? daemon.connect().get("secret")) == [1, 2, 3] })
        try expectNothingStays(of: daemon) { try askAndGo() }
    }

    @Test func `a socket that lingers when it is closed delays no other client`() throws {
        let daemon = try vault()
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let sender = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &size) == 0 && connect(sender, address, size) == 0
            }
        }
        #expect(isConnected)
        var patience = linger(l_onoff: 1, l_linger: 600)
        setsockopt(sender, SOL_SOCKET, SO_LINGER, &patience, socklen_t(MemoryLayout<linger>.size))
        _ = fcntl(sender, F_SETFL, O_NONBLOCK)
        let bytes = [UInt8](repeating: 0, count: 1 << 20)
        while write(sender, bytes, bytes.count) > 0 {}
        let peer = try HostilePeer(daemon)
        let isSent = peer.send(HostilePeer.frame(.vaultStatus), passing: [sender])
        #expect(isSent)
        close(sender)
        #expect(try peer.replies(1).first?.errorCode != nil)
        // With the daemon's, the last descriptor of the socket is gone.
        #expect(try daemon.connect().get("secret") == [1, 2, 3])
        close(listener)
    }

    private static let descriptorLimit: rlim_t = {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit.rlim_cur
    }()

    @Test(.enabled(if: descriptorLimit >= 6000, "the tests may not open 6000 descriptors: raise 'ulimit -n'"))
    func `of five thousand connections those beyond the limit are turned away, and the others served`() throws {
        let daemon = try vault()
        try expectNothingStays(of: daemon) {
            var sockets: [Int32] = []
            for number in 0..<5000 {
                let socket = try UnixSocket.connect(to: daemon.socketPath)
                // Two hundred of them begin a frame.
                if number % 25 == 0 { _ = try? socket.send([0, 0, 0].span.bytes) }
                sockets.append(socket.release())
            }
            // Refused, or admitted if another one was idle for so long that it was disconnected.
            let last = try HostilePeer(daemon)
            last.send(HostilePeer.frame(.vaultStatus))
            let code = try last.replies(1).first?.errorCode
            #expect(code == nil || code == "notAvailable")
            #expect(try Footprint(of: daemon).descriptors < Limits.connections + 100)
            for socket in sockets { close(socket) }
        }
    }
}
