import CofferCore
import CofferHandlers
import CofferTestSupport
import CofferPast
import CofferVault
import CofferWire
import Foundation
import Testing

/// The trash, step by step: emptying it is one change, however much is in it.
@Suite struct TrashHandlerTests {
    /// A vault with that many items in the trash, on the disk.
    private func stepper(discarding count: Int) throws -> Stepper {
        let stepper = try Stepper()
        for number in 0..<count {
            let name = JSONValue.string("s/\(number)")
            #expect(try stepper.perform(.itemPut, ["name": name], [1]).failure == nil)
            #expect(try stepper.perform(.itemRemove, ["name": name, "trash": true]).failure == nil)
        }
        try stepper.commit()
        return stepper
    }

    private func hasEntries(_ stepper: Stepper) throws -> Bool { try stepper.vault.catalog.past.hasEntries() }

    /// The bytes that a change adds to the log of the database.
    private func growth(_ stepper: Stepper, _ change: () throws -> Void) throws -> Int {
        func size() throws -> Int {
            CatalogLog.end(of: try #require(stepper.directory.contents("state/vault.sqlite-wal")))
        }
        let former = try size()
        try change()
        return try size() - former
    }

    @Test func `emptying writes as much for three hundred entries as for one, and the rows go afterwards`() throws {
        let growths = try [1, 300].map { count in
            let stepper = try stepper(discarding: count)
            let growth = try growth(stepper) {
                let emptied = try stepper.perform(.trashEmpty)
                #expect(emptied.result?["count"]?.integerValue == Int64(count))
                try stepper.commit()
            }
            #expect(try hasEntries(stepper))
            let listed = try stepper.perform(.trashList)
            #expect(listed.result?["items"]?.arrayValue?.isEmpty == true)
            let restored = try stepper.perform(.trashRestore, ["entry": 1])
            #expect(restored.failure?.code == .itemNotFound)
            while let chore = stepper.beginChore() { chore.finish() }
            #expect(try !hasEntries(stepper))
            return growth
        }
        #expect(growths[0] > 0 && growths[0] == growths[1])
    }

    @Test func `what was put into the trash after it was emptied stays while the rest is removed`() throws {
        let stepper = try stepper(discarding: 5)
        _ = try stepper.perform(.trashEmpty)
        _ = try stepper.perform(.itemPut, ["name": "later"], [2])
        let removed = try stepper.perform(.itemRemove, ["name": "later", "trash": true])
        try stepper.commit()
        while let chore = stepper.beginChore() { chore.finish() }
        let restored = try stepper.perform(.trashRestore, ["entry": removed.result?["entry"] ?? .null])
        #expect(restored.failure == nil)
        #expect(try stepper.perform(.itemGet, ["name": "later"]).payload == [2])
    }

    @Test func `a trash that is not full and not old is not written for`() throws {
        let stepper = try stepper(discarding: 2)
        stepper.handlers.trash.sweepTrash()
        #expect(stepper.beginChore() == nil)
        stepper.handlers.trash.sweepTrash(countsTime: true)
        let chore = try #require(stepper.beginChore())
        chore.finish()
        #expect(chore.failure == nil)
        #expect(try stepper.perform(.trashList).result?["items"]?.arrayValue?.count == 2)
    }
}
