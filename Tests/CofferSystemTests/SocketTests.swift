import CofferSystem
import Foundation
import Testing

/// Accepts a pending connection.
private func accepted(from listener: borrowing OwnedDescriptor) throws -> OwnedDescriptor {
    var poller = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
    try #require(poll(&poller, 1, 10_000) == 1)
    guard let connection = try UnixSocket.accept(from: listener) else { throw SystemError("accept", code: EAGAIN) }
    return connection
}

extension OwnedDescriptor {
    /// Receives once, and returns the text and whether descriptors arrived.
    fileprivate borrowing func receiveText(room: Int = 100) throws -> Message? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
        defer { buffer.deallocate() }
        guard var received = try receive(into: buffer) else { return nil }
        return Message(
            text: String(decoding: buffer[..<received.count], as: UTF8.self),
            descriptor: received.takeTrustedDescriptor(),
            hasTooManyDescriptors: received.hasTooManyDescriptors
        )
    }

    fileprivate borrowing func sendText(
        _ text: String,
        _ more: String = "",
        passing number: Int32? = nil
    ) throws -> Int? {
        try send(Array(text.utf8).span.bytes, Array(more.utf8).span.bytes, passing: number)
    }
}

private final class Message {
    let text: String
    let descriptor: OwnedDescriptor?
    let hasTooManyDescriptors: Bool

    init(text: String, descriptor: consuming OwnedDescriptor?, hasTooManyDescriptors: Bool) {
        self.text = text
        self.descriptor = descriptor
        self.hasTooManyDescriptors = hasTooManyDescriptors
    }

    var number: Int32? {
        switch descriptor {
        case .none: nil
        case .some(let descriptor): descriptor.number
        }
    }

    var hasDescriptor: Bool { number != nil }
}

/// The number of descriptors of this process that refer to the same pipe.
///
/// Only these, because the test runner opens and closes descriptors of its own.
private func openDescriptors(like number: Int32) throws -> Int {
    func target(_ name: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
    }
    let wanted = try #require(target("\(number)"))
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { target($0) == wanted }
}

/// Sends several descriptors in one message, which the code under test never does.
private func send(_ descriptors: [Int32], on socket: Int32) throws {
    let space = MemoryLayout<cmsghdr>.size + (descriptors.count * 4 + 7) / 8 * 8
    var control = [UInt8](repeating: 0, count: space)
    control.withUnsafeMutableBytes { buffer in
        // cmsg_len, cmsg_level, cmsg_type: SCM_RIGHTS is 1.
        buffer.storeBytes(of: MemoryLayout<cmsghdr>.size + descriptors.count * 4, as: Int.self)
        buffer.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
        buffer.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
        for (index, number) in descriptors.enumerated() {
            buffer.storeBytes(of: number, toByteOffset: MemoryLayout<cmsghdr>.size + index * 4, as: Int32.self)
        }
    }
    var text = Array("text".utf8)
    let sent = text.withUnsafeMutableBytes { bytes in
        control.withUnsafeMutableBytes { control in
            var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return withUnsafeMutablePointer(to: &part) { part in
                var message = msghdr()
                message.msg_iov = part
                message.msg_iovlen = 1
                message.msg_control = control.baseAddress
                message.msg_controllen = control.count
                return sendmsg(socket, &message, 0)
            }
        }
    }
    try #require(sent == 4)
}

@Suite struct `A socket` {
    // The umask belongs to the process, so each test has its own.
    @Test func `leaves the mask of other threads alone`() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let directory = try TemporaryDirectory()
            DispatchQueue.concurrentPerform(iterations: 400) { number in
                _ = try? UnixSocket.listen(at: directory.path("socket\(number)"))
                let made = open(directory.path("file\(number)"), O_CREAT | O_WRONLY, 0o666)
                var status = stat()
                #expect(fstat(made, &status) == 0 && status.st_mode & 0o777 == 0o666)
                close(made)
            }
            #expect(umask(0) == 0)
        }
    }

    @Test func `connects who asks with who listens, for the owner only`() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let directory = try TemporaryDirectory()
            let path = directory.path("socket")
            let listener = try UnixSocket.listen(at: path)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            #expect(umask(0) == 0, "the mask is as it was")
            let isNone = try UnixSocket.accept(from: listener) == nil
            #expect(isNone, "nobody has connected, and it does not wait")

            let client = try UnixSocket.connect(to: path)
            let server = try accepted(from: listener)
            for number in [listener.number, client.number, server.number] {
                #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
            }
            #expect(fcntl(server.number, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(client.number, F_GETFL) & O_NONBLOCK == 0)

            #expect(try client.sendText("hello ", "there") == 11)
            let message = try server.receiveText()
            #expect(message?.text == "hello there")
            let nothing = try server.receiveText() == nil
            #expect(nothing)
            _ = consume client
            let end = try server.receiveText()
            #expect(end?.text == "")
        }
    }

    @Test func `takes the place of one that nobody listens at any more`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = directory.path("socket")
            do { _ = try UnixSocket.listen(at: path) }
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(failure { () throws(SystemError) in try UnixSocket.connect(to: path) } == ECONNREFUSED)
            let listener = try UnixSocket.listen(at: path)
            let client = try UnixSocket.connect(to: path)
            _ = try accepted(from: listener)
            _ = client
        }
    }

    @Test func `is not taken from one that listens`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = directory.path("socket")
            let listener = try UnixSocket.listen(at: path)
            #expect(failure { () throws(SystemError) in try UnixSocket.listen(at: path) } == EADDRINUSE)
            // The attempt has connected and closed; the listener still works.
            _ = try accepted(from: listener)
            let client = try UnixSocket.connect(to: path)
            let server = try accepted(from: listener)
            try client.writeText("x")
            #expect(try server.readText() == "x")
        }
    }

    @Test func `does not delete a file that is in its place`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            try directory.write("a letter", to: "file")
            #expect(failure { () throws(SystemError) in try UnixSocket.listen(at: directory.path("file")) } == EEXIST)
            #expect(directory.contents("file") == Array("a letter".utf8))
        }
    }

    @Test func `does not delete a file at a path that is too long for it`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let name = String(repeating: "n", count: 120)
            try directory.write("a letter", to: name)
            #expect(
                failure { () throws(SystemError) in try UnixSocket.listen(at: directory.path(name)) } == ENAMETOOLONG
            )
            #expect(directory.contents(name) == Array("a letter".utf8))
        }
    }

    @Test(arguments: [(106, true), (107, true), (108, false), (109, false), (4000, false)])
    func `has a path of at most 107 bytes`(count: Int, isPossible: Bool) throws {
        let path = "/nonexistent/" + String(repeating: "p", count: count - 13)
        #expect(path.utf8.count == count)
        let code = failure { () throws(SystemError) in try UnixSocket.connect(to: path) }
        #expect(code == (isPossible ? ENOENT : ENAMETOOLONG))
        #expect(UnixSocket.pathBytes == 107)
    }

    @Test(arguments: ["", "\0abstract", "a\0b"])
    func `has no path that the kernel would read as another`(path: String) {
        #expect(failure { () throws(SystemError) in try UnixSocket.connect(to: path) } == ENAMETOOLONG)
    }

    @Test func `knows who is at the other end`() throws {
        let pair = try UnixSocket.pair()
        for peer in [try PeerIdentity(of: pair.server), try PeerIdentity(of: pair.client)] {
            #expect(peer.credentials.processID == getpid())
            #expect(peer.credentials.userID == geteuid())
            #expect(peer.credentials.groupID == getegid())
            var own = [gid_t](repeating: 0, count: 65536)
            let count = getgroups(Int32(own.count), &own)
            #expect(peer.supplementaryGroupIDs == Set(own.prefix(Int(count))))
        }
        let pipe = try Pipe()
        #expect(failure { () throws(SystemError) in try PeerIdentity(of: pipe.reading) } == ENOTSOCK)
    }

    @Test func `makes pairs of which the server's end does not block`() throws {
        let pair = try UnixSocket.pair()
        #expect(fcntl(pair.server.number, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(pair.client.number, F_GETFL) & O_NONBLOCK == 0)
        #expect(fcntl(pair.server.number, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(pair.client.number, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func `says when there is no room, and sends on when there is`() throws {
        let pair = try UnixSocket.pair()
        let block = [UInt8](repeating: 7, count: 60_000)
        var sent = 0
        while let count = try pair.server.send(block.span.bytes) { sent += count }
        #expect(sent > 0)
        var received = 0
        var buffer = [UInt8](repeating: 0, count: 65536)
        while received < sent {
            let count = read(pair.client.number, &buffer, buffer.count)
            try #require(count > 0)
            #expect(buffer[..<count].allSatisfy { $0 == 7 })
            received += count
        }
        #expect(received == sent)
        let count = try pair.server.send([UInt8]([1]).span.bytes)
        #expect(count == 1)
    }

    @Test func `gives an error and no signal when the peer is gone`() throws {
        let pair = try UnixSocket.pair()
        pair.split { server, client in
            _ = consume client
            #expect(failure { () throws(SystemError) in try server.send([UInt8]([1]).span.bytes) } == EPIPE)
        }
    }
}

@Suite struct `A descriptor passed over a socket` {
    @Test func `arrives with the bytes, and is another number for the same open file`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("content", to: "file")
        let file = OwnedDescriptor(owning: open(directory.path("file"), O_RDONLY))
        let pair = try UnixSocket.pair()
        #expect(try pair.client.sendText("take it", passing: file.number) == 7)
        guard let message = try pair.server.receiveText() else { throw SystemError("receive", code: EAGAIN) }
        #expect(message.text == "take it")
        #expect(!message.hasTooManyDescriptors)
        let number = try #require(message.number)
        #expect(number != file.number)
        #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
        _ = consume file
        let content = try message.descriptor?.readText()
        #expect(content == "content")
    }

    @Test func `is not there when none was passed`() throws {
        let pair = try UnixSocket.pair()
        _ = try pair.client.sendText("nothing")
        let message = try pair.server.receiveText()
        #expect(message?.text == "nothing")
        #expect(message?.hasDescriptor == false)
        #expect(message?.hasTooManyDescriptors == false)
    }

    @Test func `comes with the first of the bytes, however they are cut`() throws {
        let pipe = try Pipe()
        let pair = try UnixSocket.pair()
        _ = try pair.client.sendText("abc", passing: pipe.reading.number)
        let first = try pair.server.receiveText(room: 1)
        #expect(first?.text == "a")
        #expect(first?.hasDescriptor == true)
        let rest = try pair.server.receiveText()
        #expect(rest?.text == "bc")
        #expect(rest?.hasDescriptor == false)
    }

    // In a separate process, in which no parallel test opens descriptors.
    @Test func `is refused where there are several, and none of them stays open`() async {
        await #expect(processExitsWith: .success) {
            let pair = try UnixSocket.pair()
            let pipe = try Pipe()
            let before = try openDescriptors(like: pipe.reading.number)
            #expect(before == 2)
            for count in [2, 3, 4, 8, 16, 64, 253] {
                try send(Array(repeating: pipe.reading.number, count: count), on: pair.client.number)
                do {
                    guard let message = try pair.server.receiveText() else {
                        throw SystemError("receive", code: EAGAIN)
                    }
                    #expect(message.text == "text")
                    #expect(message.hasTooManyDescriptors, "\(count) descriptors")
                }
                let after = try openDescriptors(like: pipe.reading.number)
                #expect(after == before, "\(count) descriptors")
            }
            do {
                try send([pipe.reading.number], on: pair.client.number)
                guard let message = try pair.server.receiveText() else { throw SystemError("receive", code: EAGAIN) }
                #expect(!message.hasTooManyDescriptors)
                #expect(message.hasDescriptor)
                let after = try openDescriptors(like: pipe.reading.number)
                #expect(after == before + 1, "so that the count can fail")
            }
            let after = try openDescriptors(like: pipe.reading.number)
            #expect(after == before)
        }
    }

    @Test func `a receiver gets the descriptor that was sent, without waiting for one`() throws {
        let receiver = try DescriptorReceiver.make()
        var isThere = false
        if let _ = try receiver.receive() { isThere = true }
        #expect(!isThere)
        let file = try OwnedDescriptor.open("/dev/null", O_RDONLY)
        #expect(try receiver.sender.sendText("\0", passing: file.number) == 1)
        var found: (String, Bool)?
        if let got = try receiver.receive() {
            let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(got.number)")
            found = (path, got.number != file.number)
        }
        #expect(found?.0 == "/dev/null" && found?.1 == true)
    }
}
