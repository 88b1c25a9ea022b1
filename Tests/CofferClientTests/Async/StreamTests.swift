import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The pieces of a content that is computed from the offset.
struct Pieces: AsyncSequence, Sendable {
    let content: [UInt8]
    var pieceCount = 10_000
    /// Called after the last piece.
    var end: @Sendable () async throws -> Void = {}

    struct Iterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var place = 0

        mutating func next() async throws -> Secret? {
            guard place < pieces.content.count else {
                try await pieces.end()
                return nil
            }
            let piece = pieces.content[place...].prefix(pieces.pieceCount)
            place += piece.count
            return try Secret(Array(piece))
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }
}

private struct SourceError: Error {}

/// Collects the pieces of a content.
func collect(_ content: ItemContent) async throws -> [UInt8] {
    var all: [UInt8] = []
    for try await piece in content { all += piece.exposeBytes() }
    return all
}

@Suite struct `A content that comes and goes in pieces` {
    private let large = pseudoRandomBytes(3_000_000)

    private func withVault(_ body: (CofferClient) async throws -> Void) async throws {
        // In a separate process: a server in this one would inherit the other end of a stream, which then
        // never ends.
        let daemon = try DaemonProcess()
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            try await client.makeVault()
            try await body(client)
        }
        withExtendedLifetime(daemon) {}
    }

    @Test func `is the same when it comes back, larger than any buffer`() async throws {
        try await withVault { client in
            let name = try ItemName("films/large")
            let placement = try await client.put(name, from: Pieces(content: large))
            #expect(placement.protection.store == .file)
            let content = try await collect(client.content(of: name))
            #expect(content == large)
            let part = try await collect(client.content(of: name, offset: 2_999_000, length: 500))
            #expect(part == Array(large[2_999_000..<2_999_500]))
        }
    }

    @Test(arguments: [0, 1, 32 << 10, (32 << 10) + 1])
    func `is the same when it comes back, small`(count: Int) async throws {
        try await withVault { client in
            let name = try ItemName("small")
            let bytes = Array(large.prefix(count))
            _ = try await client.put(name, from: Pieces(content: bytes, pieceCount: 777))
            let content = try await collect(client.content(of: name))
            #expect(content == bytes)
            let whole = try await client.get(name).exposeBytes()
            #expect(whole == bytes)
        }
    }

    @Test func `is not there where it fails`() async throws {
        try await withVault { client in
            let name = try ItemName("nobody")
            await #expect(throws: CofferError(.itemNotFound, "")) { try await collect(client.content(of: name)) }
        }
    }
    @Test func `goes from one item to another`() async throws {
        try await withVault { client in
            let (name, copy) = (try ItemName("a"), try ItemName("b"))
            _ = try await client.put(name, from: Pieces(content: large))
            _ = try await client.put(copy, from: client.content(of: name))
            let content = try await collect(client.content(of: copy))
            #expect(content == large)
        }
    }

    @Test func `can be left before its end, and asked for again`() async throws {
        try await withVault { client in
            let name = try ItemName("a")
            _ = try await client.put(name, from: Pieces(content: large))
            let content = client.content(of: name)
            for try await piece in content {
                #expect(piece.count > 0)
                break
            }
            let again = try await collect(content)
            #expect(again == large)
        }
    }

    @Test func `leaves what is stored where its source fails`() async throws {
        try await withVault { client in
            let name = try ItemName("a")
            _ = try await client.put(name, from: Pieces(content: large))
            let failing = Pieces(content: Array(large.prefix(500_000))) { throw SourceError() }
            let error = await failure { () throws(CofferError) in try await client.put(name, from: failing) }
            #expect(error?.message == "can't store 'a': its source failed with SourceError")
            let content = try await collect(client.content(of: name))
            #expect(content == large)
        }
    }
}
