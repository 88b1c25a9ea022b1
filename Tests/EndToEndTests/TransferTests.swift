import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Contents that pass through descriptors.
@Suite struct TransferTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        return daemon
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 1_000_003])
    func `a file comes back byte for byte, by descriptor`(count: Int) throws {
        let daemon = try vault()
        let content = pseudoRandomBytes(count)
        let source = try daemon.directory.write(content, to: "source")
        let put = try daemon.coffer(["put", "a/file", source, "--kind", "database", "--allow-empty"])
        #expect(put.status == 0)
        let get = try daemon.coffer(["get", "a/file", "--output", "copy"])
        #expect(get.status == 0)
        let copy = try Data(contentsOf: URL(filePath: daemon.directory.appending("copy")))
        #expect(Array(copy) == content)
        let piped = try daemon.coffer(["get", "a/file"])
        #expect(piped.output == content)
    }

    @Test(arguments: [0, 1, 1024, 1025, 32_768, 32_769, 500_000])
    func `standard input is stored, whatever its size`(count: Int) throws {
        let daemon = try vault()
        let content = pseudoRandomBytes(count)
        let put = try daemon.coffer(["put", "a/b", "--json", "--allow-empty"], input: content)
        #expect(put.status == 0)
        // R6 takes what is small and has no stated kind; R8 the rest.
        #expect(put.text.contains(count <= 1024 ? #""store":"keychain""# : #""store":"file""#))
        let get = try daemon.coffer(["get", "a/b"])
        #expect(get.output == content)
    }

    @Test(arguments: ["0:10", "65530:12", "131071:1", "131072:5", "0:0", "100:999999"])
    func `a range is cut out of a file`(range: String) throws {
        let daemon = try vault()
        let content = pseudoRandomBytes(131_072)
        try daemon.connect().put("a/file", content) { $0.kind = .database }
        let parts = range.split(separator: ":").compactMap { Int($0) }
        let get = try daemon.coffer(["get", "a/file", "--range", range])
        #expect(get.status == 0)
        #expect(get.output == Array(content[parts[0]..<min(parts[0] + parts[1], content.count)]))
    }

    @Test func `the daemon's memory does not grow with a file`() throws {
        let daemon = try vault()
        let path = daemon.directory.appending("large")
        let size = 256 << 20
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        try #require(FileHandle(forWritingAtPath: path)).truncate(atOffset: UInt64(size))
        let before = try peakMemory(daemon)
        #expect(try daemon.coffer(["put", "large", path]).status == 0)
        #expect(try daemon.coffer(["get", "large", "--output", path + ".copy"]).status == 0)
        let after = try peakMemory(daemon)
        #expect(try FileManager.default.attributesOfItem(atPath: path + ".copy")[.size] as? Int == size)
        #expect(after - before <= 16 << 10, "KiB more at the peak")
    }

    /// In KiB.
    private func peakMemory(_ daemon: DaemonProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(daemon.processID)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
    }

    /// How a transfer that a lock caught in the middle came out.
    @Test(arguments: [
        (ProtectionClass.complete, Outcome.locked), (.completeUnlessOpen, .done),
        (.completeUntilFirstUserAuthentication, .done), (.none, .done),
    ])
    func `a read that a lock catches ends whole or locked`(protectionClass: ProtectionClass, expected: Outcome) throws {
        let daemon = try vault()
        let content = pseudoRandomBytes(1 << 20)
        try daemon.connect().put("a/file", content) {
            $0.kind = .database
            $0.protectionClass = protectionClass
        }
        let pipe = try PipeEnds()
        let client = try daemon.connect()
        let get = Background {
            defer { close(pipe.writing) }
            return try Outcome {
                _ = try client.get(ItemGetParameters(name: try ItemName("a/file")), into: pipe.writing)
            }
        }
        // The pipe is full long before the end of the file: the transfer waits, and the lock comes.
        sleepSeconds(0.3)
        _ = try daemon.connect().lock(graceSeconds: 0)
        let received = drain(pipe.reading)
        close(pipe.reading)
        let outcome = try get.wait()
        #expect(outcome == expected)
        if outcome == .done { #expect(received == content) }
        #expect(content.starts(with: received))
    }

    @Test(
        arguments: [
            (ProtectionClass.complete, Outcome.locked), (.completeUnlessOpen, .done),
            (.completeUntilFirstUserAuthentication, .done), (.none, .done),
        ],
        [true, false]
    )
    func `a write that a lock catches ends whole, or leaves what was there`(
        write: (protectionClass: ProtectionClass, expected: Outcome),
        isNew: Bool
    ) throws {
        let (protectionClass, expected) = write
        let daemon = try vault()
        let old = pseudoRandomBytes(100_000, seed: 1)
        let new = pseudoRandomBytes(300_000, seed: 2)
        if !isNew {
            try daemon.connect().put("a/file", old) {
                $0.kind = .database
                $0.protectionClass = protectionClass
            }
        }
        let pipe = try PipeEnds()
        let client = try daemon.connect()
        let put = Background {
            defer { close(pipe.reading) }
            return try Outcome {
                var wishes = PlacementOptions()
                wishes.kind = .database
                wishes.protectionClass = protectionClass
                _ = try client.put(try ItemName("a/file"), wishes, content: nil, rest: pipe.reading)
            }
        }
        // More than the daemon wants for deciding, so that the transfer is under way.
        writeAll(pipe.writing, Array(new.prefix(150_000)))
        sleepSeconds(0.2)
        _ = try daemon.connect().lock(graceSeconds: 0)
        writeAll(pipe.writing, Array(new.dropFirst(150_000)))
        close(pipe.writing)
        let outcome = try put.wait()
        #expect(outcome == expected)
        let reader = try daemon.connect()
        try reader.unlock()
        if isNew && expected == .locked {
            let missing = try Outcome { _ = try reader.get("a/file") }
            #expect(missing == .refused(.itemNotFound))
            return
        }
        let content = try reader.get("a/file", length: 200_000)
        #expect(content == Array((expected == .done ? new : old).prefix(200_000)))
    }

    @Test func `a stuck reader delays no other client`() throws {
        let daemon = try vault()
        try daemon.connect().put("a/file", pseudoRandomBytes(1 << 20)) { $0.kind = .database }
        let pipe = try PipeEnds()
        let stuck = try daemon.connect()
        let get = Background {
            defer { close(pipe.writing) }
            _ = try? stuck.get(ItemGetParameters(name: ItemName("a/file")), into: pipe.writing)
        }
        sleepSeconds(0.2)
        let other = try daemon.connect()
        #expect(try other.get("a/file", length: 10).count == 10)
        #expect(try other.status().state == .unlocked)
        _ = drain(pipe.reading)
        close(pipe.reading)
        try get.wait()
    }

    @Test func `a client that goes away in the middle of a put leaves nothing`() throws {
        let daemon = try vault()
        let pipe = try PipeEnds()
        let socket = try UnixSocket.connect(to: daemon.socketPath)
        let json = Request(
            id: .integer(1),
            method: Method.itemPut.rawValue,
            params: ["name": "a/file", "kind": "document"]
        ).serialized()
        let frame = FrameHeader.encode(jsonCount: json.count, payloadCount: 0) + json
        _ = try socket.send(frame.span.bytes, passing: pipe.reading)
        close(pipe.reading)
        writeAll(pipe.writing, pseudoRandomBytes(100_000))
        sleepSeconds(0.2)
        shutdown(socket.number, Int32(SHUT_RDWR))
        close(socket.release())
        sleepSeconds(0.3)
        close(pipe.writing)
        sleepSeconds(0.2)
        let client = try daemon.connect()
        #expect(try client.list().items.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.statePath + "/blobs/staging").isEmpty)
    }
}
