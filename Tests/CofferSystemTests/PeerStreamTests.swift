import CofferTestSupport
import CofferCore
import CofferSystem
import Foundation
import Testing

private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

extension PeerStream {
    convenience init(_ descriptor: consuming PeerDescriptor, _ access: Int32) throws {
        try self.init(descriptor, for: access, cancellation: try Cancellation())
    }

    /// Fills a buffer of a size, and returns the bytes that arrived.
    func filled(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let outcome = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(TransferError) in try self.fill(buffer) }
        }
        return Array(bytes.prefix(try outcome.get()))
    }
}

/// The reason of an early end of a transfer.
private func end(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch TransferError.cancelled {
        return "cancelled"
    } catch TransferError.system(let error) {
        return "system \(error.code)"
    } catch {
        return "\(error)"
    }
}

private func refusal(_ number: Int32, _ access: Int32) throws -> ErrorCode? {
    do throws(CofferError) {
        let cancellation: Cancellation
        do { cancellation = try Cancellation() } catch { throw error.cofferError("") }
        _ = try PeerStream(PeerDescriptor(owning: number), for: access, cancellation: cancellation)
        return nil
    } catch {
        return error.code
    }
}

@Suite struct `A stream to a peer` {
    init() { signal(SIGPIPE, SIG_IGN) }

    @Test func `is a file, a pipe or a stream socket, open for what is wanted`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("x", to: "file")
        let path = directory.path("file")
        #expect(try refusal(open(path, O_RDONLY), O_RDONLY) == nil)
        #expect(try refusal(open(path, O_RDWR), O_RDONLY) == nil)
        #expect(try refusal(open(path, O_RDWR), O_WRONLY) == nil)
        #expect(try refusal(open(path, O_WRONLY), O_RDONLY) == .param)
        #expect(try refusal(open(path, O_RDONLY), O_WRONLY) == .param)
        #expect(try refusal(open(directory.path, O_RDONLY), O_RDONLY) == .param)
        #expect(try refusal(open("/dev/null", O_RDWR), O_WRONLY) == nil)
        var numbers: [Int32] = [-1, -1]
        numbers = try makePipe()
        #expect(try refusal(dup(numbers[0]), O_WRONLY) == .param)
        #expect(try refusal(dup(numbers[1]), O_RDONLY) == .param)
        #expect(try refusal(numbers[0], O_RDONLY) == nil)
        #expect(try refusal(numbers[1], O_WRONLY) == nil)
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &numbers) == 0)
        #expect(try refusal(numbers[0], O_RDONLY) == nil)
        #expect(try refusal(numbers[1], O_WRONLY) == nil)
        for type in [SOCK_DGRAM, SOCK_SEQPACKET] {
            try #require(socketpair(AF_UNIX, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0, &numbers) == 0)
            #expect(try refusal(numbers[0], O_RDONLY) == .param)
            #expect(try refusal(numbers[1], O_WRONLY) == .param)
        }
    }

    @Test func `knows what is left of a file from where it stands`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("0123456789", to: "file")
        for (offset, expected) in [(0, 10), (3, 7), (10, 0), (50, 0)] as [(Int, Int64)] {
            let number = open(directory.path("file"), O_RDONLY)
            lseek(number, offset, SEEK_SET)
            let stream = try PeerStream(PeerDescriptor(owning: number), O_RDONLY)
            try stream.prepare()
            #expect(stream.remainingByteCount == expected)
        }
        let pipe = try Pipe()
        let stream = try PeerStream(PeerDescriptor(owning: try pipe.reading.duplicate().release()), O_RDONLY)
        #expect(stream.remainingByteCount == nil)
    }

    @Test func `reads a file in pieces to its end`() throws {
        let directory = try TemporaryDirectory()
        let content = pattern(10_000)
        try Data(content).write(to: URL(filePath: directory.path("file")))
        let stream = try PeerStream(PeerDescriptor(owning: open(directory.path("file"), O_RDONLY)), O_RDONLY)
        let pieces = [try stream.filled(6000), try stream.filled(6000), try stream.filled(6000)]
        #expect(pieces.map(\.count) == [6000, 4000, 0])
        #expect(Array(pieces.joined()) == content)
    }

    @Test(arguments: [false, true])
    func `reads and writes more than a pipe holds`(isSocket: Bool) throws {
        let content = pattern(1_000_003)
        var numbers: [Int32] = [-1, -1]
        if isSocket {
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &numbers) == 0)
        } else {
            numbers = try makePipe()
        }
        let (reading, writing) = (numbers[0], numbers[1])
        let writer = Background {
            let stream = try PeerStream(PeerDescriptor(owning: writing), O_WRONLY)
            try stream.write(all: content.span.bytes)
        }
        let stream = try PeerStream(PeerDescriptor(owning: reading), O_RDONLY)
        let found = try stream.filled(content.count + 10)
        try writer.wait()
        #expect(found == content)
    }

    @Test func `fills its buffer from many small writes`() throws {
        let pipe = try Pipe()
        let number = pipe.writing.number
        let writer = Background {
            for index in 0..<1000 { _ = write(number, "\(index % 10)", 1) }
        }
        let stream = try PeerStream(PeerDescriptor(owning: try pipe.reading.duplicate().release()), O_RDONLY)
        let found = try stream.filled(1000)
        try writer.wait()
        #expect(found == (0..<1000).map { UInt8(ascii: "0") + UInt8($0 % 10) })
    }

    @Test func `does not mind a peer's descriptor that does not block`() throws {
        let content = pattern(300_000)
        let pair = try UnixSocket.pair()
        try pair.split { server, client in
            let number = client.release()
            let writer = Background {
                let stream = try PeerStream(PeerDescriptor(owning: number), O_WRONLY)
                try stream.write(all: content.span.bytes)
            }
            let stream = try PeerStream(PeerDescriptor(owning: server.release()), O_RDONLY)
            let found = try stream.filled(content.count + 1)
            try writer.wait()
            #expect(found == content)
        }
    }

    @Test func `leaves the flags of the peer's open file as they are`() throws {
        let pipe = try Pipe()
        let before = fcntl(pipe.reading.number, F_GETFL)
        let stream = try PeerStream(PeerDescriptor(owning: try pipe.reading.duplicate().release()), O_RDONLY)
        try pipe.writing.writeText("x")
        _ = try stream.filled(1)
        #expect(fcntl(pipe.reading.number, F_GETFL) == before)
        #expect(before & O_NONBLOCK == 0)
    }

    @Test func `says that the peer has closed`() throws {
        for isSocket in [false, true] {
            var numbers: [Int32] = [-1, -1]
            if isSocket {
                try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &numbers) == 0)
            } else {
                numbers = try makePipe()
            }
            close(numbers[0])
            let stream = try PeerStream(PeerDescriptor(owning: numbers[1]), O_WRONLY)
            #expect(end { try stream.write(all: [UInt8]([1]).span.bytes) } == "system \(EPIPE)")
        }
    }
}

@Suite struct `A cancellation` {
    init() { signal(SIGPIPE, SIG_IGN) }

    @Test func `wakes a thread that waits for an empty pipe`() throws {
        let pipe = try Pipe()
        let cancellation = try Cancellation()
        let number = try pipe.reading.duplicate().release()
        try pipe.writing.writeText("12345")
        let reader = Background {
            let stream = try PeerStream(PeerDescriptor(owning: number), for: O_RDONLY, cancellation: cancellation)
            return end { _ = try stream.filled(6) }
        }
        // When the pipe is empty, the reader has everything and waits for the sixth byte.
        var left: Int32 = 1
        while left > 0 { try #require(ioctl(pipe.reading.number, UInt(FIONREAD), &left) == 0) }
        cancellation.cancel()
        #expect(try reader.wait() == "cancelled")
        #expect(cancellation.isCancelled)
    }

    @Test(arguments: [false, true])
    func `wakes a thread that waits for a full pipe`(isSocket: Bool) throws {
        var numbers: [Int32] = [-1, -1]
        if isSocket {
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &numbers) == 0)
        } else {
            numbers = try makePipe()
        }
        let reading = OwnedDescriptor(owning: numbers[0])
        let writing = numbers[1]
        let cancellation = try Cancellation()
        let writer = Background {
            let stream = try PeerStream(PeerDescriptor(owning: writing), for: O_WRONLY, cancellation: cancellation)
            return end { try stream.write(all: pattern(1 << 20).span.bytes) }
        }
        var poller = pollfd(fd: reading.number, events: Int16(POLLIN), revents: 0)
        try #require(poll(&poller, 1, -1) == 1)
        cancellation.cancel()
        #expect(try writer.wait() == "cancelled")
    }

    @Test func `ends a transfer that has not begun, a file's too`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("x", to: "file")
        let cancellation = try Cancellation()
        #expect(!cancellation.isCancelled)
        let file = PeerDescriptor(owning: open(directory.path("file"), O_RDWR))
        let stream = try PeerStream(file, for: O_RDONLY, cancellation: cancellation)
        cancellation.cancel()
        cancellation.cancel()
        #expect(end { _ = try stream.filled(1) } == "cancelled")
        #expect(end { try stream.write(all: [UInt8]([1]).span.bytes) } == "cancelled")
        #expect(TransferError.cancelled.cofferError.code == .userCanceled)
    }
}
