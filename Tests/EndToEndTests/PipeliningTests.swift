import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Concurrent requests, on one connection and on several.
@Suite struct PipeliningTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        return daemon
    }

    private func frame(_ id: Int64, _ method: Method, _ params: JSONObject, payload: [UInt8] = []) -> [UInt8] {
        let json = Request(id: .integer(id), method: method.rawValue, params: params).serialized()
        return FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json + payload
    }

    /// Reads frames until there are so many, or the daemon closes.
    private func replies(_ count: Int, from socket: borrowing OwnedDescriptor) throws -> [JSONValue] {
        var decoder = FrameDecoder()
        var found: [JSONValue] = []
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var piece = [UInt8](repeating: 0, count: 65_536)
        while found.count < count, case let received = read(socket.number, &piece, piece.count), received > 0 {
            var offset = 0
            while let frame = try decoder.decode(piece.span.bytes.extracting(first: received), at: &offset) {
                found.append(try frame.json.get())
            }
        }
        return found
    }

    private func sendAll(_ bytes: [UInt8], over socket: borrowing OwnedDescriptor, passing number: Int32? = nil) throws
    {
        var done = 0
        while done < bytes.count {
            let passed = done == 0 ? number : nil
            done += try socket.send(bytes.span.bytes.extracting(droppingFirst: done), passing: passed) ?? 0
        }
    }

    @Test func `a descriptor belongs to its own request, however that arrives`() throws {
        let daemon = try vault()
        // More than one arrival takes, so that the next request comes with the end of it.
        let payload = pseudoRandomBytes(200_000, seed: 1)
        let rest = pseudoRandomBytes(100_000, seed: 2)
        let path = try daemon.directory.write(rest, to: "rest")
        for _ in 0..<10 {
            let file = try #require(FileHandle(forReadingAtPath: path))
            let socket = try UnixSocket.connect(to: daemon.socketPath)
            let put = frame(1, .itemPut, ["name": "both", "kind": "document"], payload: payload)
            try sendAll(put, over: socket, passing: file.fileDescriptor)
            try sendAll(frame(2, .itemShow, ["name": "both"]), over: socket)
            let answers = try replies(2, from: socket)
            #expect(answers.count == 2)
            #expect(answers.allSatisfy { $0.objectValue?["result"] != nil })
            #expect(try daemon.coffer(["get", "both"]).output == payload + rest)
        }
    }

    @Test func `all requests are answered, however many there are, and what takes one step in the order of its coming`()
        throws
    {
        let daemon = try vault()
        let socket = try UnixSocket.connect(to: daemon.socketPath)
        let count = 500
        let requests = (1...count).flatMap { number in
            frame(Int64(number), number % 50 == 0 ? .itemList : .vaultStatus, [:])
        }
        try sendAll(requests, over: socket)
        let found = try replies(count, from: socket)
        let answered = found.compactMap { $0.objectValue?["id"]?.integerValue }
        #expect(answered.sorted() == Array(1...Int64(count)))
        // A listing may take several turns, and what only looks does not wait for it.
        let steps = answered.filter { !$0.isMultiple(of: 50) }
        #expect(steps == steps.sorted())
    }

    @Test func `a peer that does not read delays no other client, and costs bounded memory`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        for number in 0..<200 { try client.put("n/\(number)", [1]) }
        let silent = try UnixSocket.connect(to: daemon.socketPath)
        try UnixSocket.setNonBlocking(silent)
        let request = frame(1, .itemList, [:])
        // As much as the daemon takes: it stops reading when it stops answering.
        while let sent = try silent.send((request + request).span.bytes), sent > 0 {}
        #expect(try client.status().state == .unlocked)
        let status = try String(contentsOfFile: "/proc/\(daemon.processID)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        let resident = try #require(line.split(separator: " ").compactMap { Int($0) }.first)
        #expect(resident < 64 << 10, "KiB")
    }

    @Test func `a read meets the old content or the new, and nothing else, while it is replaced`() throws {
        let daemon = try vault()
        let contents = [pseudoRandomBytes(3000, seed: 1), pseudoRandomBytes(3000, seed: 2)]
        try daemon.connect().put("file", contents[0]) { $0.kind = .database }
        let writer = Background {
            let client = try daemon.connect()
            for number in 0..<300 { try client.put("file", contents[number % 2]) }
        }
        let reader = try daemon.connect()
        for _ in 0..<600 {
            let content = try reader.get("file")
            #expect(contents.contains(content))
        }
        try writer.wait()
    }

    @Test func `stuck transfers do not hold up unlocking`() throws {
        let daemon = try vault()
        let pipe = try PipeEnds()
        var stuck: [Background<Void>] = []
        for number in 0..<(Limits.workerThreads + 4) {
            let client = try daemon.connect()
            stuck.append(
                Background {
                    var wishes = PlacementOptions()
                    wishes.kind = .database
                    _ = try? client.put(try ItemName("stuck/\(number)"), wishes, content: nil, rest: pipe.reading)
                }
            )
        }
        sleepSeconds(0.3)
        let client = try daemon.connect()
        _ = try client.lock(graceSeconds: 0)
        try client.unlock()
        #expect(try client.status().state == .unlocked)
        close(pipe.writing)
        for transfer in stuck { try transfer.wait() }
        close(pipe.reading)
    }

    @Test func `a client's own connection is no source`() throws {
        let daemon = try vault()
        let socket = try UnixSocket.connect(to: daemon.socketPath)
        try sendAll(frame(1, .itemPut, ["name": "a"]), over: socket, passing: socket.number)
        let answer = try #require(try replies(1, from: socket).first)
        let code = answer.objectValue?["error"]?.objectValue?["data"]?.objectValue?["code"]
        #expect(code == "param")
    }

    @Test func `a listing of the longest names comes in pages that fit`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        // Control characters take six bytes each in JSON.
        let part = String(repeating: "\u{1}", count: 250)
        let names = (0..<100).map { "\($0)/" + Array(repeating: part, count: 14).joined(separator: "/") }
        for name in names { try client.put(name, [1]) { $0.store = .file } }
        var listed = 0
        var after: String?
        repeat {
            let page = try client.list(after: after)
            listed += page.items.count
            after = page.next
        } while after != nil
        #expect(listed == names.count)
    }
}
