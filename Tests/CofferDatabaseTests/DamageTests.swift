import CofferCore
import CofferDatabase
import Foundation
import Testing

@Suite struct `A damaged file` {
    let directory: TemporaryDirectory
    let healthy: [UInt8]

    init() throws {
        directory = try TemporaryDirectory()
        do {
            let connection = try Connection.migrated(directory.path())
            try connection.transaction {
                for number in 0..<60 { try connection.add("item-\(number)", bytes: number * 40) }
            }
        }
        healthy = try directory.contents()
    }

    /// Opens the file and does to it all that there is to do.
    private func useAll() throws {
        let connection = try Connection.migrated(directory.path())
        _ = try connection.checkIntegrity()
        try connection.rows("SELECT id, name, sealed FROM items") { row in
            _ = (try row.integer(0), try row.text(1), try row.blob(2))
            return true
        }
        try connection.transaction {
            try connection.add("new", bytes: 3000)
            try connection.execute("DELETE FROM items WHERE id % 3 = 0")
        }
    }

    @Test func `that is none is refused when it is opened`() throws {
        try directory.write(Array("Not a database, but long enough to be taken for one.\n".utf8) + healthy)
        let refusal = failure { _ = try Connection(path: directory.path()) }
        #expect(refusal?.kind == .damaged)
        #expect(refusal?.cofferError.code == .decode)
    }

    @Test func `that ends too soon is refused`() throws {
        for count in [healthy.count / 2, 4096 * 2, 4096, 4096 + 100, 1000] {
            try directory.write(Array(healthy.prefix(count)))
            #expect(failure { try useAll() }?.kind == .damaged, "\(count) bytes")
        }
    }

    @Test func `that is empty is a new one`() throws {
        try directory.write([])
        #expect(try Connection.migrated(directory.path()).names == [])
    }

    @Test func `is refused where a page of it is overwritten`() throws {
        for page in 0..<(healthy.count / 4096) {
            var bytes = healthy
            bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: repeatElement(0xA5, count: 4096))
            try directory.write(bytes)
            // A page in the chain of one long blob has no structure that could be seen to be broken.
            if let refusal = failure(of: useAll) { #expect(refusal.kind == .damaged, "page \(page)") }
            if page == 0 { #expect(failure { _ = try Connection(path: directory.path()) }?.kind == .damaged) }
        }
    }

    @Test func `is found out by the check of its integrity`() throws {
        var bytes = healthy
        let last = bytes.count - 4096
        bytes.replaceSubrange(last..<last + 8, with: repeatElement(0xFF, count: 8))
        try directory.write(bytes)
        let connection = try Connection(path: directory.path())
        #expect(try connection.checkIntegrity() != [])
    }

    @Test func `is well where nothing is wrong with it`() throws {
        #expect(try Connection(path: directory.path()).checkIntegrity() == [])
    }

    @Test func `gives errors of the database and never a trap, whichever byte is wrong`() throws {
        let offsets = Array(0..<120) + Array(stride(from: 120, to: 4096, by: 31))
        for offset in offsets + Array(stride(from: 4096, to: healthy.count, by: 509)) {
            var bytes = healthy
            bytes[offset] ^= 0xFF
            try directory.write(bytes)
            do {
                try useAll()
            } catch {
                let error = try #require(error as? DatabaseError, "byte \(offset)")
                #expect(error.cofferError.code != .internal, "byte \(offset): \(error)")
            }
            try? FileManager.default.removeItem(atPath: directory.path("vault.sqlite-wal"))
        }
    }

    @Test func `is not made worse by a log that belongs to nothing`() throws {
        try directory.write(Array(repeating: 0xEE, count: 40_000), to: "vault.sqlite-wal")
        #expect(try Connection.migrated(directory.path()).names.count == 60)
    }
}
