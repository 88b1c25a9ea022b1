import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A file that is replaced between a request to read it and its opening: the content is the old or the new
/// one, whole.
@Suite struct ReplacedFileTests {
    private static let former = pseudoRandomBytes(150_000, seed: 1)
    private static let latter = pseudoRandomBytes(180_000, seed: 2)
    private static let stranger = ClientIdentity(userID: geteuid() + 7, groupID: getegid() + 7)

    /// A server that can be blocked, with two files whose chunks were all rewritten.
    private struct Place {
        let held: HeldServer
        let client: BlockingClient

        init() throws {
            held = try HeldServer()
            client = try held.connect()
            try client.makeVault()
            try makeFile("f", ReplacedFileTests.former)
            // Items are distinguished by the millisecond of their creation.
            let made = try client.fileInfo(try ItemName("f")).created
            while Int64(Date().timeIntervalSince1970 * 1000) <= made { usleep(200) }
            try makeFile("g", ReplacedFileTests.latter)
        }

        func makeFile(_ name: String, _ content: [UInt8]) throws {
            try client.put(name, [UInt8](repeating: 0, count: content.count)) { $0.protectionClass = .complete }
            let handle = try client.openFile(try ItemName(name), for: .write)
            try handle.put(content, at: 0)
            try handle.close()
        }

        /// Sends a request to read `f`, and then one that replaces it, before either is executed.
        func read(
            _ params: JSONObject = [:],
            as reader: ClientIdentity = HeldServer.owner,
            to pipe: TransferPipe? = nil,
            while replacing: (inout RawConnection) throws -> Void
        ) throws -> (refusal: ErrorCode?, payload: [UInt8]) {
            var reading = try held.connectRaw(as: reader)
            var other = try held.connectRaw()
            var params = params
            params.set("name", "f")
            try held.whileHeld {
                try reading.send(.itemGet, params, passing: pipe?.writing)
                try replacing(&other)
            }
            pipe?.closeWriting()
            let piped = pipe?.drain()
            let replaced = try other.answer()
            #expect(replaced.refusal == nil)
            let answer = try reading.answer()
            return (answer.refusal, piped ?? reading.payload)
        }
    }

    /// The requested parts: offset and length.
    private static let parts: [(offset: Int, length: Int?)] = [
        (0, nil), (100, 70_000), (149_000, 2000), (149_999, nil),
    ]

    private static func part(_ content: [UInt8], _ part: (offset: Int, length: Int?)) -> [UInt8] {
        Array(content.dropFirst(part.offset).prefix(part.length ?? .max))
    }

    @Test(arguments: [false, true], parts)
    func `a reader gets the old file or the new one, and never a part of one in the size of the other`(
        byDescriptor: Bool,
        part: (offset: Int, length: Int?)
    ) throws {
        let place = try Place()
        let pipe = byDescriptor ? try TransferPipe() : nil
        var params: JSONObject = ["offset": .integer(Int64(part.offset))]
        if let length = part.length { params.set("length", .integer(Int64(length))) }
        let answer = try place.read(params, to: pipe) { other in
            try other.send(.fileRename, ["name": "g", "to": "f", "replace": true])
        }
        #expect(answer.refusal == nil)
        let isWhole = [Self.former, Self.latter].contains { Self.part($0, part) == answer.payload }
        #expect(isWhole, "\(answer.payload.count) bytes")
    }

    @Test func `a rule for an item gives that item, or nothing`() throws {
        let place = try Place()
        try place.client.grant(try ItemName("f"), to: .user(Self.stranger.userID), seconds: 600)
        let answer = try place.read(as: Self.stranger) { other in
            try other.send(.fileRename, ["name": "g", "to": "f", "replace": true])
        }
        switch answer.refusal {
        case .none:
            let isFormer = answer.payload == Self.former
            #expect(isFormer)
        case .some(let code):
            #expect(code == .notAvailable && answer.payload.isEmpty)
        }
        // The item of the rule no longer exists.
        let client = try place.held.connect(as: HeldServer.owner)
        let isLatter = try client.get("f") == Self.latter
        #expect(isLatter)
    }

    @Test func `a name that a secret takes is not said to be of nothing`() throws {
        let place = try Place()
        try place.client.put("s", [7])
        let answer = try place.read { other in
            try other.send(.itemMove, ["name": "s", "to": "f", "replace": true])
        }
        #expect([.none, .notAvailable].contains(answer.refusal))
        let isWhole = answer.refusal != nil || answer.payload == Self.former || answer.payload == [7]
        #expect(isWhole)
        #expect(try place.client.get("f") == [7])
    }

    @Test func `readers beside files that replace one another get each of them whole`() throws {
        let place = try Place()
        let whole: Set<[UInt8]> = [Self.former, Self.latter]
        let isOver = Shared(false)
        let server = place.held.server
        let reader = try server.connect()
        let reading = Background {
            var odd: [Int] = []
            while !isOver.value {
                let content = try reader.get("f")
                if !whole.contains(content) { odd.append(content.count) }
            }
            return odd
        }
        for round in 0..<20 {
            let (name, content) = round.isMultiple(of: 2) ? ("h", Self.former) : ("i", Self.latter)
            try place.makeFile(name, content)
            _ = try place.client.moveFile(try ItemName(name), to: try ItemName("f"), replace: true)
        }
        isOver.value = true
        #expect(try reading.wait() == [])
    }
}
