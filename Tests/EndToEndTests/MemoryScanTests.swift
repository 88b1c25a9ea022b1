import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What lies in the memory of the real daemon, every byte of it.
@Suite(.enabled(if: MemoryScanner.isPermitted, "only root, with CAP_SYS_PTRACE, can read the daemon's memory"))
struct MemoryScanTests {
    /// The keys that a lock, and at the latest the end of the grace, takes away.
    private static let untilLock = ["a", "bPrivate", "ak", "aku", "akpu", "bkPrivate"]
    /// The keys that need no passcode.
    private static let always = [
        "d", "dk", "dku", "store", "device key", "coffer keychain metadata v1", "coffer file metadata v1",
        "coffer search v1", "coffer access rules v1", "coffer audit v1",
    ]
    /// The keys that a lock leaves.
    private static let lasting = always + ["c", "cx", "ck", "cku"]
    /// A vault that was just made, and what is known of it.
    private final class Scene {
        let passcode = randomText(24)
        /// As a person writes it down.
        let recoveryKey: [UInt8]
        let daemon: DaemonProcess
        let client: BlockingClient
        let reader: KeybagReader
        /// Every secret, under the name that a failure tells.
        var needles = Needles()

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            let made = try client.initialize(passcode: try SecretBytes(passcode.utf8), kdf: .interactive)
            recoveryKey = made.takePayload().exposed()
            reader = try KeybagReader(daemon.statePath, passcode: passcode)
            for (name, key) in reader.keys { needles.add(name, key) }
            needles.add("passcode", Array(passcode.utf8))
            for (name, bytes) in try KeybagReader.secrets(ofRecoveryKey: recoveryKey) { needles.add(name, bytes) }
        }

        /// Looks when nothing is under way: threads that have answered may still be ending.
        func scan() throws -> Set<Find> {
            let tasks = "/proc/\(daemon.processID)/task"
            let isQuiet = try settles { try FileManager.default.contentsOfDirectory(atPath: tasks).count == 1 }
            #expect(isQuiet, "the daemon's worker threads end")
            return try scanNow()
        }

        /// Looks in the middle of things.
        func scanNow() throws -> Set<Find> { try MemoryScanner(processID: daemon.processID).find(needles) }

        /// Puts an item and gets it, and remembers its content.
        func exchange(_ name: String, _ count: Int, _ describe: (inout PlacementOptions) -> Void) throws {
            let content = randomContent(count)
            needles.add("content of \(name)", content)
            try client.put(name, content, describe)
            // What an answer carries of it.
            let beginning = try client.get(name, length: Int64(min(count, 250_000)))
            #expect(beginning == Array(content.prefix(250_000)))
            let part = try client.get(name, offset: 3, length: 70_000)
            #expect(part == Array(content.dropFirst(3).prefix(70_000)))
        }

        /// Stores and fetches an example of everything, and keeps no answer.
        func serve() throws {
            // After a large one, libcrypto seals and opens the files that follow.
            let large = try daemon.directory.write([], to: "large")
            try #require(truncate(large, off_t(2 * Limits.bulkBytes)) == 0)
            let file = try FileHandle(forReadingFrom: URL(filePath: large))
            _ = try client.put(try ItemName("large"), PlacementOptions(), content: nil, rest: file.fileDescriptor)
            for accessibility: Accessibility in [
                .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly, .whenUnlockedDeposit,
                .afterFirstUnlock,
            ] {
                for count in [16, 60, 61, 500, 1000, 5000, 32_768] {
                    try exchange("secrets/\(accessibility.rawValue)-\(count)", count) {
                        $0.accessibility = accessibility
                        $0.store = .keychain
                    }
                }
            }
            for protectionClass: ProtectionClass in [.complete, .completeUnlessOpen] {
                for count in [16, 5000, 65_536, 200_000] {
                    try exchange("files/\(protectionClass.rawValue)-\(count)", count) {
                        $0.protectionClass = protectionClass
                        $0.store = .file
                    }
                }
                try exchangeByDescriptor("streams/\(protectionClass.rawValue)", 200_000, protectionClass)
            }
            try exchangeFields()
            try addItemKeys()
        }

        /// Remembers the keys of what is stored.
        func addItemKeys() throws {
            for (name, key) in try reader.itemKeys(daemon.statePath) { needles.add(name, key) }
        }

        /// A content that the matrix looks into.
        private func exchangeFields() throws {
            let password = randomText(40)
            needles.add("password among fields", Array(password.utf8))
            let fields = Array("{\"password\":\"\(password)\"}".utf8)
            let params = ItemExplainParameters(name: nil, byteCount: nil, wishes: PlacementOptions())
            let explained = try client.explain(params, sample: try SecretBytes(fields))
            #expect(explained.placement.protection.store == .keychain)
            try client.put("fields", fields)
            let fetched = try client.get("fields")
            #expect(fetched == fields)
            // Letters alone could be the name of a field, up to their end.
            for count in [24, 60, 500, 3000] {
                let letters = randomText(count)
                needles.add("\(count) letters", Array(letters.utf8))
                try client.put("letters-\(count)", Array(letters.utf8)) { $0.store = .keychain }
            }
        }

        private func exchangeByDescriptor(_ name: String, _ count: Int, _ protectionClass: ProtectionClass) throws {
            let content = randomContent(count)
            needles.add("content of \(name)", content)
            let input = try PipeEnds()
            let writer = Background {
                writeAll(input.writing, content)
                close(input.writing)
            }
            var wishes = PlacementOptions()
            wishes.protectionClass = protectionClass
            wishes.kind = .document
            _ = try client.put(try ItemName(name), wishes, content: nil, rest: input.reading)
            close(input.reading)
            try writer.wait()
            let output = try PipeEnds()
            let reader = Background { drain(output.reading) }
            let range = ItemGetParameters(name: try ItemName(name), offset: 1, length: 150_000)
            _ = try client.get(range, into: output.writing)
            close(output.writing)
            let received = try reader.wait()
            close(output.reading)
            #expect(received == Array(content[1..<150_001]))
        }
    }

    @Test func `an unlocked daemon has the class keys in secret memory only, and no passcode`() throws {
        let scene = try Scene()
        try expectKeys(Self.untilLock + Self.lasting, in: scene.scan(), "after init")
        _ = try scene.client.lock(graceSeconds: 0)
        try scene.client.unlock(scene.passcode)
        try expectKeys(Self.untilLock + Self.lasting, in: scene.scan(), "after unlock")
        _ = try scene.client.lock(graceSeconds: 0)
        _ = try scene.client.unlock(recoveryKey: try SecretBytes(scene.recoveryKey))
        try expectKeys(Self.untilLock + Self.lasting, in: scene.scan(), "after unlock with the recovery key")
    }

    @Test func `a locked daemon has nothing of what it has served, and none of the keys`() throws {
        let scene = try Scene()
        try scene.serve()
        try expectKeys(Self.untilLock + Self.lasting, in: scene.scan(), "served")
        let wrong = randomText(24)
        let (stretched, kek) = try scene.reader.derived(wrong)
        scene.needles.add("wrong passcode", Array(wrong.utf8))
        scene.needles.add("stretched wrong passcode", stretched)
        scene.needles.add("KEK of the wrong passcode", kek)
        _ = try scene.client.lock(graceSeconds: 0)
        try expectKeys(Self.lasting, in: scene.scan(), "locked at once")
        let refused = try Outcome { try scene.client.unlock(wrong) }
        #expect(refused == .refused(.authFailed))
        try expectKeys(Self.lasting, in: scene.scan(), "after a wrong passcode")
        try scene.client.unlock(scene.passcode)
        try expectKeys(Self.untilLock + Self.lasting, in: scene.scan(), "unlocked again")
        _ = try scene.client.lock(graceSeconds: 1)
        let isLocked = try settles { try scene.client.status().state == .locked }
        #expect(isLocked)
        try expectKeys(Self.lasting, in: scene.scan(), "after the grace")
        try scene.daemon.restart()
        try expectKeys(Self.always, in: scene.scan(), "before first unlock")
    }

    @Test func `a lock takes the content of what is under way`() throws {
        let scene = try Scene()
        // More than the client and the pipes hold.
        try scene.exchange("a/file", 2_000_000) {
            $0.kind = .document
            $0.protectionClass = .complete
        }
        try scene.exchange("a/secret", 32_000) { $0.accessibility = .whenUnlocked }
        let written = randomContent(150_000)
        scene.needles.add("content that is being written", written)
        try scene.addItemKeys()
        let (output, input) = (try PipeEnds(), try PipeEnds())
        let (reader, writer) = (try scene.daemon.connect(), try scene.daemon.connect())
        let get = Background {
            defer { close(output.writing) }
            return try Outcome {
                _ = try reader.get(ItemGetParameters(name: try ItemName("a/file")), into: output.writing)
            }
        }
        let put = Background {
            var wishes = PlacementOptions()
            (wishes.kind, wishes.protectionClass) = (.document, .complete)
            return try Outcome { _ = try writer.put(try ItemName("new"), wishes, content: nil, rest: input.reading) }
        }
        writeAll(input.writing, written)
        // A client sends requests and never reads an answer: more than the socket buffers.
        let deaf = try UnixSocket.connect(to: scene.daemon.socketPath)
        for number in 1...30 { try send(Method.itemGet, ["name": "a/secret"], Int64(number), to: deaf) }
        let names = ["content of a/file", "content of a/secret", "content that is being written"]
        let isUnderWay = try settles {
            let finds = try scene.scanNow()
            return Set(names).isSubset(of: finds.map(\.name)) && finds.contains { $0.name.hasPrefix("file key") }
        }
        #expect(isUnderWay, "the scan does not see what is there")
        let before = try scene.scanNow().filter { !$0.isInSecretMemory }
        #expect(before.isEmpty)
        _ = try scene.client.lock(graceSeconds: 0)
        // The client writes what it has before it says how the transfer ended.
        _ = drain(output.reading)
        let outcomes = [try get.wait(), try put.wait()]
        #expect(outcomes == [.locked, .locked])
        try expectKeys(Self.lasting, in: scene.scan(), "after the lock")
        for end in [output.reading, input.reading, input.writing] { close(end) }
    }

    @Test func `what is half received is found: text where text lies, a payload in secret memory`() throws {
        let scene = try Scene()
        let text = randomText(64)
        let payload = randomContent(1000)
        scene.needles.add("text", Array(text.utf8))
        scene.needles.add("payload", payload)
        let textSocket = try UnixSocket.connect(to: scene.daemon.socketPath)
        try send(.itemShow, ["name": .string(text)], 1, leavingOut: 1, to: textSocket)
        let payloadSocket = try UnixSocket.connect(to: scene.daemon.socketPath)
        try send(.itemPut, ["name": "a/b"], 1, payload + [0], leavingOut: 1, to: payloadSocket)
        let arrives = try settles { try scene.scan().contains { $0.name == "payload" } }
        #expect(arrives, "the scan does not see what is there")
        let finds = try scene.scan()
        let texts = finds.filter { $0.name == "text" }
        #expect(texts.contains { !$0.isLocked && !$0.isNotDumped }, "the scan does not see ordinary memory: \(finds)")
        #expect(finds.filter { $0.name == "payload" }.allSatisfy { $0.isInSecretMemory })
        close(payloadSocket.release())
        let goes = try settles { try scene.scan().allSatisfy { $0.name != "payload" } }
        let left = try scene.scan()
        #expect(goes, "the payload outlives its connection: \(left)")
    }

    @Test func `a lock takes a payload that is half received, though its connection stays`() throws {
        let scene = try Scene()
        let payload = randomContent(1000)
        scene.needles.add("payload", payload)
        let socket = try UnixSocket.connect(to: scene.daemon.socketPath)
        try send(.itemPut, ["name": "a/b"], 1, payload + [0], leavingOut: 1, to: socket)
        let arrives = try settles { try scene.scan().contains { $0.name == "payload" } }
        #expect(arrives, "the scan does not see what is there")
        _ = try scene.client.lock(graceSeconds: 0)
        try expectKeys(Self.lasting, in: scene.scan(), "after the lock")
        close(socket.release())
    }

    /// Sends a request, or all of it but the end.
    private func send(
        _ method: Method,
        _ params: JSONObject,
        _ id: Int64,
        _ payload: [UInt8] = [],
        leavingOut count: Int = 0,
        to socket: borrowing OwnedDescriptor
    ) throws {
        let json = Request(id: .integer(id), method: method.rawValue, params: params).serialized()
        let frame = FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json + payload
        let bytes = Array(frame.dropLast(count))
        let sent = try socket.send(bytes.span.bytes, passing: nil)
        #expect(sent == bytes.count)
    }

    /// That these keys are there, and in secret memory only, and nothing else at all.
    private func expectKeys(_ expected: [String], in finds: Set<Find>, _ moment: Comment) {
        let missing = Set(expected).subtracting(finds.map(\.name))
        #expect(missing.isEmpty, "\(moment): the scan does not see what is there")
        let leaks = finds.filter { !expected.contains($0.name) || !$0.isInSecretMemory }
        #expect(leaks.isEmpty, moment)
    }
}

extension SecretBytes? {
    fileprivate consuming func exposed() -> [UInt8] {
        switch consume self {
        case .none: []
        case .some(let bytes): bytes.exposeBytes()
        }
    }
}

/// Random letters: the tests' own constants are in memory where they are not looked for.
func randomText(_ count: Int) -> String {
    String(
        (0..<count).compactMap { _ in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ23456789".randomElement() }
    )
}

private func randomContent(_ count: Int) -> [UInt8] {
    pseudoRandomBytes(count, seed: UInt64.random(in: 0...UInt64.max))
}
