import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

private let opened: JSONValue = ["handle": 7, "bytes": 10, "class": "complete", "created": true]

@Suite struct `A call about files` {
    private func secret(_ bytes: [UInt8]) throws -> SecretBytes? { try SecretBytes(bytes) }

    @Test func `opens with what was asked for, and nothing else`() throws {
        let daemon = try ScriptedDaemon([answer(1, opened), answer(2, opened), answer(3, [:]), answer(4, [:])])
        let name = try ItemName("a/b")
        let file = try daemon.client.openFile(
            name,
            for: .readWrite,
            [.create, .exclusive, .truncate, .append, .wait],
            protectionClass: .completeUnlessOpen
        )
        #expect(file.byteCount == 10 && file.protectionClass == .complete && file.isNew && file.name == name)
        let plain = try daemon.client.openFile(name)
        try plain.close()
        try file.close()
        let all: JSONObject = [
            "name": "a/b", "access": "readWrite", "create": true, "exclusive": true, "truncate": true, "append": true,
            "class": "completeUnlessOpen", "wait": true,
        ]
        let expected = [
            request(1, "file.open", all), request(2, "file.open", ["name": "a/b", "access": "read"]),
            request(3, "file.close", ["handle": 7]), request(4, "file.close", ["handle": 7]),
        ]
        #expect(daemon.requests == expected.flatMap { $0 })
    }

    @Test func `goes by the number of the handle, with what is written as the payload`() throws {
        let daemon = try ScriptedDaemon([
            answer(1, opened), answer(2, ["bytes": 3], [1, 2, 3]), answer(3, ["bytes": 0]),
            answer(4, ["offset": 10, "bytes": 12]), answer(5, ["offset": 0, "bytes": 12]), answer(6, [:]),
            answer(7, ["bytes": 50]), answer(8, [:]), answer(9, [:]),
        ])
        let file = try daemon.client.openFile(try ItemName("a"), for: .readWrite)
        let read = try file.read(at: 2, count: 5)?.exposeBytes()
        #expect(read == [1, 2, 3])
        let isAtEnd = try file.read(at: 10, count: 5) == nil
        #expect(isAtEnd)
        #expect(try file.write(secret([8, 9])) == 10)
        #expect(file.byteCount == 12)
        #expect(try file.write(secret([7]), at: 0) == 0)
        try file.truncate(to: 4)
        #expect(file.byteCount == 4)
        try file.allocate(at: 20, count: 30)
        #expect(file.byteCount == 50)
        try file.sync()
        try file.close()
        let expected = [
            request(1, "file.open", ["name": "a", "access": "readWrite"]),
            request(2, "file.read", ["handle": 7, "offset": 2, "length": 5]),
            request(3, "file.read", ["handle": 7, "offset": 10, "length": 5]),
            request(4, "file.write", ["handle": 7], [8, 9]),
            request(5, "file.write", ["handle": 7, "offset": 0], [7]),
            request(6, "file.truncate", ["handle": 7, "bytes": 4]),
            request(7, "file.allocate", ["handle": 7, "offset": 20, "length": 30]),
            request(8, "file.sync", ["handle": 7]), request(9, "file.close", ["handle": 7]),
        ]
        #expect(daemon.requests == expected.flatMap { $0 })
    }

    @Test func `closes a file that nobody has any more`() throws {
        let daemon = try ScriptedDaemon([answer(1, opened), answer(2, [:])])
        _ = try daemon.client.openFile(try ItemName("a"))
        let expected =
            request(1, "file.open", ["name": "a", "access": "read"]) + request(2, "file.close", ["handle": 7])
        #expect(daemon.requests == expected)
    }

    @Test(arguments: [(3, 2), (2, 3), (6, 6)])
    func `takes no other number of bytes than was announced and wanted`(announced: Int64, sent: Int) throws {
        let payload = [UInt8](repeating: 1, count: sent)
        let daemon = try ScriptedDaemon([
            answer(1, opened), answer(2, ["bytes": .integer(announced)], payload), answer(3, [:]),
        ])
        let file = try daemon.client.openFile(try ItemName("a"))
        let outcome = try Outcome { _ = try file.read(at: 0, count: 5) }
        #expect(outcome == .refused(.protocolViolation))
    }

    @Test func `sends no more than a frame holds`() throws {
        let daemon = try ScriptedDaemon([answer(1, opened), answer(2, [:])])
        let file = try daemon.client.openFile(try ItemName("a"), for: .write)
        let tooMuch = try secret([UInt8](repeating: 0, count: Limits.framePayloadBytes + 1))
        var refusal: CofferError?
        do { try file.write(tooMuch) } catch { refusal = error }
        #expect(refusal?.code == .dataTooLarge)
        #expect(refusal?.hint == "write them in pieces")
    }

    @Test func `tells what could not be salvaged`() throws {
        let result: JSONValue = [
            "bytes": 300, "damagedBytes": 12, "damaged": [["offset": 5, "bytes": 10], ["offset": 100, "bytes": 2]],
            "mayBeOlder": true,
        ]
        let daemon = try ScriptedDaemon([answer(1, result)])
        let salvage = try daemon.client.salvage(try ItemName("a"), into: 2)
        let expected = Salvage(
            byteCount: 300,
            damagedByteCount: 12,
            damaged: [DamagedRange(offset: 5, byteCount: 10), DamagedRange(offset: 100, byteCount: 2)],
            mayBeOlder: true
        )
        #expect(salvage == expected)
        #expect(salvage.json == result.objectValue)
    }
}

@Suite struct `A parameter of a file's methods` {
    @Test(arguments: [(-1, false), (0, true), (1 << 40, true), (1 << 40 + 1, false)] as [(Int64, Bool)])
    func `has no place outside of a file`(value: Int64, isPossible: Bool) throws {
        let number = JSONValue.integer(value)
        let read = try? FileReadParameters(params: ["handle": 1, "offset": number, "length": 1])
        let write = try? FileWriteParameters(params: ["handle": 1, "offset": number])
        let cut = try? FileTruncateParameters(params: ["handle": 1, "bytes": number])
        let room = try? FileAllocateParameters(params: ["handle": 1, "offset": number, "length": number])
        #expect([read != nil, write != nil, cut != nil, room != nil] == Array(repeating: isPossible, count: 4))
    }

    @Test(arguments: [(-1, false), (0, true), (262_144, true), (262_145, false)] as [(Int64, Bool)])
    func `asks for no more than a frame holds`(length: Int64, isPossible: Bool) throws {
        let read = try? FileReadParameters(params: ["handle": 1, "offset": 0, "length": .integer(length)])
        #expect((read != nil) == isPossible)
    }

    @Test(arguments: [(-1, false), (0, true), (1 << 31 - 1, true), (1 << 31, false)] as [(Int64, Bool)])
    func `is a small number where it is a handle`(handle: Int64, isPossible: Bool) throws {
        let close = try? FileCloseParameters(params: ["handle": .integer(handle)])
        #expect((close != nil) == isPossible)
    }

    @Test func `is none of a later version`() throws {
        for params: JSONObject in [["name": "a", "x": 1], ["name": "a", "access": "execute"], ["access": "read"]] {
            #expect(throws: CofferError(.param, "")) { try FileOpenParameters(params: params) }
        }
    }
}
