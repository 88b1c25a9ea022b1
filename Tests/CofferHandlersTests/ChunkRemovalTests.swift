import CofferCore
import CofferHandlers
import CofferTestSupport
import CofferVault
import CofferWire
import Testing

/// The rows of the chunks of a large file, which are removed after it, step by step.
@Suite struct ChunkRemovalTests {
    private static let chunkBytes = 4096
    /// So many chunks that their rows are removed in three steps.
    private static let content: [UInt8] = (0..<(2 * Limits.chunkRowsAtOnce + 5)).flatMap { chunk in
        [UInt8](repeating: UInt8(truncatingIfNeeded: chunk), count: chunkBytes)
    }

    private let stepper: Stepper

    /// Makes a vault with a file that was written in place.
    init() throws {
        stepper = try Stepper()
        let params: JSONObject = ["name": "f", "access": "readWrite", "create": true]
        let handle = try #require(try stepper.perform(.fileOpen, params).result?["handle"])
        // The first write chooses the size of the chunks.
        var pieces = [0..<Self.chunkBytes]
        while let end = pieces.last?.upperBound, end < Self.content.count {
            pieces.append(end..<min(end + Limits.framePayloadBytes, Self.content.count))
        }
        for piece in pieces {
            let place: JSONObject = ["handle": handle, "offset": .integer(Int64(piece.lowerBound))]
            #expect(try stepper.perform(.fileWrite, place, Array(Self.content[piece])).failure == nil)
        }
        #expect(try stepper.perform(.fileSync, ["handle": handle]).failure == nil)
        #expect(try stepper.perform(.fileClose, ["handle": handle]).failure == nil)
        try stepper.commit()
        while let chore = stepper.beginChore() { chore.finish() }
    }

    private func read() throws -> [UInt8] {
        let handle = try #require(try stepper.perform(.fileOpen, ["name": "f"]).result?["handle"])
        var found: [UInt8] = []
        while found.count < Self.content.count {
            let part: JSONObject = [
                "handle": handle, "offset": .integer(Int64(found.count)),
                "length": .integer(Int64(Limits.framePayloadBytes)),
            ]
            let read = try stepper.perform(.fileRead, part)
            if read.payload.isEmpty { break }
            found += read.payload
        }
        #expect(try stepper.perform(.fileClose, ["handle": handle]).failure == nil)
        return found
    }

    /// Begins to remove rows, as the end of a turn does; `nil` if there is nothing to be removed.
    private func beginRemoval() -> Begun? {
        stepper.handlers.vault.removeOrphanedChunks()
        return stepper.beginChore()
    }

    @Test func `others are served between the steps, and nothing is left at the end`() throws {
        #expect(try stepper.perform(.fileRemove, ["name": "f"]).failure == nil)
        try stepper.commit()
        let chore = try #require(beginRemoval())
        var turnCount = 0
        while let wait = chore.wait {
            if wait == .turn { turnCount += 1 }
            #expect(beginRemoval() == nil)
            #expect(try stepper.perform(.itemPut, ["name": "s"], [1]).failure == nil)
            #expect(try stepper.perform(.itemGet, ["name": "s"]).payload == [1])
            chore.resume()
        }
        #expect(chore.failure == nil)
        #expect(turnCount == 2)
        try stepper.commit()
        #expect(beginRemoval() == nil)
        #expect(!stepper.handlers.vault.takeFailedRemoval())
    }

    @Test func `a removal that fails is known to have failed, and is done by the next one`() throws {
        #expect(try stepper.perform(.fileRemove, ["name": "f"]).failure == nil)
        try stepper.commit()
        let chore = try #require(beginRemoval())
        chore.call.cancel()
        chore.finish()
        #expect(chore.failure?.code == .userCanceled)
        #expect(stepper.handlers.vault.takeFailedRemoval())
        #expect(!stepper.handlers.vault.takeFailedRemoval())
        let again = try #require(beginRemoval())
        again.finish()
        #expect(again.failure == nil)
        #expect(beginRemoval() == nil)
    }

    @Test func `what comes back from the trash has its chunks, and they go when it is emptied`() throws {
        let removed = try stepper.perform(.itemRemove, ["name": "f", "trash": true])
        #expect(removed.failure == nil)
        try stepper.commit()
        #expect(beginRemoval() == nil)
        let entry = removed.result?["entry"] ?? .null
        #expect(try stepper.perform(.trashRestore, ["entry": entry]).failure == nil)
        try stepper.commit()
        #expect(try read() == Self.content)
        #expect(try stepper.perform(.itemRemove, ["name": "f", "trash": true]).failure == nil)
        try stepper.commit()
        #expect(try stepper.perform(.trashEmpty).failure == nil)
        try stepper.commit()
        while let chore = stepper.beginChore() { chore.finish() }
        let chore = try #require(beginRemoval())
        chore.finish()
        #expect(chore.failure == nil)
        #expect(beginRemoval() == nil)
    }
}
