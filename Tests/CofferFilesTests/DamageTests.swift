import CofferFileContent
import CofferCore
import CofferDatabase
import CofferFiles
import CofferTestSupport
import Foundation
import Testing

@Suite struct `A content that was tampered with` {
    let open: OpenStore
    let content = pattern(2 * 65536 + 100)
    let path: String
    let stored: [UInt8]

    init() throws {
        open = try OpenStore()
        try open.put("file", content)
        try open.put("other", Array(content.reversed()))
        path = try open.contentPath("file")
        stored = try bytes(at: path)
    }

    /// How reading it all ends; what got out before has to be authentic.
    private func outcome() throws -> ErrorCode? {
        let read = try open.store.prepareRead(try #require(try open.find("file")))
        defer { open.store.openContents.finished(read) }
        var count = 0
        let found = code {
            try read.perform(
                0..<Int64(content.count),
                to: { chunk in
                    let bytes = chunk.withUnsafeBytes { Array($0) }
                    #expect(bytes == Array(content[count..<(count + bytes.count)]))
                    count += bytes.count
                }
            )
        }
        #expect((found == nil) == (count == content.count))
        return found
    }

    private func expectDamage(_ changed: [UInt8], _ what: String) throws {
        try overwrite(path, changed)
        #expect(try outcome() == .decode, "\(what)")
    }

    @Test func `reads well where nothing was done, so that the other tests can fail`() throws {
        try overwrite(path, stored)
        #expect(try outcome() == nil)
    }

    @Test func `is found out wherever a byte of a small one is another`() throws {
        let small = try OpenStore()
        try small.put("file", pattern(100))
        let path = try small.contentPath("file")
        let stored = try bytes(at: path)
        #expect(stored.count == 148)
        for place in stored.indices {
            for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                var changed = stored
                changed[place] ^= mask
                try overwrite(path, changed)
                #expect(code { _ = try small.read("file") } == .decode, "byte \(place)")
            }
        }
    }

    @Test func `is found out wherever a byte of its chunks is another`() throws {
        let handle = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? handle.close() }
        let edges = [0, 32, 32 + 65536, 32 + 65552, 32 + 65552 + 65536, 32 + 2 * 65552, stored.count]
        let places = stored.indices.filter { place in
            place % 409 == 0 || edges.contains { abs($0 - place) <= 17 }
        }
        #expect(places.count > 450)
        for place in places {
            try handle.seek(toOffset: UInt64(place))
            try handle.write(contentsOf: [stored[place] ^ 0x10])
            #expect(try outcome() == .decode, "byte \(place)")
            try handle.seek(toOffset: UInt64(place))
            try handle.write(contentsOf: [stored[place]])
        }
        #expect(try outcome() == nil)
    }

    @Test func `gives a range that the damage is not in, and not one that it is in`() throws {
        var changed = stored
        changed[32 + 65552 + 5] ^= 1
        try overwrite(path, changed)
        #expect(try open.read("file", 0..<65536) == Array(content[..<65536]))
        #expect(try open.read("file", 131_072..<131_100) == Array(content[131_072..<131_100]))
        #expect(code { _ = try open.read("file", 65536..<65537) } == .decode)
        #expect(code { _ = try open.read("file", 65535..<131_073) } == .decode)
    }

    @Test func `is found out when it was cut or has grown`() throws {
        for count in [0, 1, 31, 32, 33, 47, 48, 32 + 65552, 32 + 2 * 65552, stored.count - 16, stored.count - 1] {
            try expectDamage(Array(stored.prefix(count)), "\(count) bytes")
        }
        for extra in [1, 16, 116, 65552] {
            try expectDamage(stored + Array(repeating: 0, count: extra), "\(extra) bytes more")
        }
        try expectDamage(stored + stored.suffix(116), "its last chunk twice")
        try expectDamage(Array(stored.dropLast(116) + stored[32..<148]), "an end made of its beginning")
    }

    @Test func `is found out when its chunks were moved`() throws {
        let chunks = [stored[32..<(32 + 65552)], stored[(32 + 65552)..<(32 + 2 * 65552)], stored[(32 + 2 * 65552)...]]
        let header = stored[..<32]
        try expectDamage(Array(header + chunks[1] + chunks[0] + chunks[2]), "two chunks exchanged")
        try expectDamage(Array(header + chunks[0] + chunks[0] + chunks[2]), "a chunk twice")
        try expectDamage(Array(header + chunks[1] + chunks[1] + chunks[2]), "the other one twice")
        try expectDamage(Array(header + chunks[2] + chunks[0] + chunks[1]), "the last one first")
    }

    @Test func `is found out when it is that of another file, as a whole or in part`() throws {
        let other = try bytes(at: open.contentPath("other"))
        #expect(other.count == stored.count)
        try expectDamage(other, "the whole of another file")
        try expectDamage(Array(stored[..<32] + other[32...]), "another file under this header")
        try expectDamage(Array(stored[..<(32 + 65552)] + other[(32 + 65552)...]), "chunks of another file")
        #expect(try open.read("other") == Array(content.reversed()))
    }

    @Test func `is found out when it is an older one of the same file`() throws {
        try open.put("file", content.map { ~$0 })
        let newPath = try open.contentPath("file")
        let new = try bytes(at: newPath)
        #expect(newPath != path)
        for changed in [stored, Array(new[..<32] + stored[32...])] {
            try overwrite(newPath, changed)
            #expect(code { _ = try open.read("file") } == .decode)
        }
    }

    @Test func `is found out when it is gone`() throws {
        try removeContent(path)
        #expect(code { _ = try open.read("file") } == .decode)
        #expect(try open.read("other") == Array(content.reversed()))
        // It can be put again, or removed.
        try open.put("file", "new")
        #expect(try open.text("file") == "new")
    }

    @Test func `is named with what was found`() throws {
        var changed = stored
        changed[32 + 65552] ^= 1
        try overwrite(path, changed)
        do {
            _ = try open.read("file")
            Issue.record("a chunk is damaged")
        } catch let error as CofferError {
            #expect(error.message == "'file' is damaged or was tampered with: chunk 1 of its content is not authentic")
            #expect(error.cocoaCode == 259)
        }
    }
}

private enum Column: String, CaseIterable {
    case nameTag, content, wrappedKey, metadata
}

extension Connection {
    fileprivate func read(_ column: Column, of row: Int64) throws -> [UInt8] {
        try #require(
            try self.row("SELECT name_tag, content, wrapped_key, metadata FROM file_nodes WHERE id = ?", .integer(row))
            {
                try $0.blob(Column.allCases.firstIndex(of: column) ?? 0)
            }
        )
    }

    fileprivate func write(_ bytes: [UInt8], to column: Column, of row: Int64) throws {
        switch column {
        case .nameTag: try execute("UPDATE file_nodes SET name_tag = ? WHERE id = ?", .blob(bytes), .integer(row))
        case .content: try execute("UPDATE file_nodes SET content = ? WHERE id = ?", .blob(bytes), .integer(row))
        case .wrappedKey: try execute("UPDATE file_nodes SET wrapped_key = ? WHERE id = ?", .blob(bytes), .integer(row))
        case .metadata: try execute("UPDATE file_nodes SET metadata = ? WHERE id = ?", .blob(bytes), .integer(row))
        }
    }
}

@Suite struct `A tree of files that was tampered with` {
    let open: OpenStore

    /// The rows of the files a, b and c.
    private let rows: [Int64]

    init() throws {
        let open = try OpenStore()
        var rows: [Int64] = []
        for name in ["a", "b", "c"] {
            try open.put(name, "content of \(name)")
            try open.connection.rows("SELECT id FROM file_nodes") { row in
                let id = try row.integer(0)
                if !rows.contains(id) { rows.append(id) }
                return true
            }
        }
        self.open = open
        self.rows = rows
    }

    private func expectDamage(of victims: Set<String>, _ what: String = "") throws {
        for name in ["a", "b", "c"] {
            if victims.contains(name) {
                #expect(code { _ = try open.find(name) } == .decode, "\(name): \(what)")
            } else {
                #expect(try open.text(name) == "content of \(name)", "\(name): \(what)")
            }
        }
        let survey = try open.survey()
        #expect(survey.damaged == victims.count)
        #expect(Set(survey.paths) == Set(["a", "b", "c"]).subtracting(victims))
    }

    private func exchange(_ column: Column) throws {
        let one = try open.connection.read(column, of: rows[0])
        let two = try open.connection.read(column, of: rows[1])
        try open.connection.write([0], to: column, of: rows[0])
        try open.connection.write(one, to: column, of: rows[1])
        try open.connection.write(two, to: column, of: rows[0])
    }

    @Test(arguments: Column.allCases)
    private func `shows it where a part of two rows was exchanged`(column: Column) throws {
        try expectDamage(of: [])
        try exchange(column)
        try expectDamage(of: ["a", "b"], "\(column)")
        try exchange(column)
        try expectDamage(of: [])
    }

    @Test func `shows it where one file was given the content and the key of another one`() throws {
        for column in [Column.content, .wrappedKey, .metadata] { try exchange(column) }
        try expectDamage(of: ["a", "b"])
    }

    @Test(arguments: [0, 1, 2, 4, 5, 16, 259, 99, -1] as [Int64])
    func `shows it where a file was given another class`(value: Int64) throws {
        try open.connection.execute(
            "UPDATE file_nodes SET class_key = ? WHERE id = ?",
            .integer(value),
            .integer(rows[0])
        )
        try expectDamage(of: ["a"])
    }

    @Test(arguments: [0, 1, 3, 258] as [Int64])
    func `shows it where a file was made something else`(value: Int64) throws {
        try open.connection.execute("UPDATE file_nodes SET kind = ? WHERE id = ?", .integer(value), .integer(rows[0]))
        #expect(code { _ = try open.find("a") } == .decode)
        #expect(try open.survey().damaged == 1)
        #expect(try open.text("b") == "content of b")
    }

    @Test(arguments: [Column.content, .wrappedKey, .metadata])
    private func `shows it where a byte is another`(column: Column) throws {
        let whole = try open.connection.read(column, of: rows[0])
        for place in whole.indices {
            var changed = whole
            changed[place] ^= 0x20
            try open.connection.write(changed, to: column, of: rows[0])
            #expect(code { _ = try open.find("a") } == .decode, "byte \(place)")
        }
        try expectDamage(of: ["a"])
        for bytes in [[], Array(whole.dropLast()), whole + [0]] {
            try open.connection.write(bytes, to: column, of: rows[0])
            try expectDamage(of: ["a"], "\(bytes.count) bytes")
        }
    }

    @Test func `shows it where a file was moved into a directory`() throws {
        try open.put("dir/file", "in it")
        let directory = try #require(
            try open.connection.row("SELECT id FROM file_nodes WHERE kind = 1") { try $0.integer(0) }
        )
        try open.connection.execute(
            "UPDATE file_nodes SET parent = ? WHERE id = ?",
            .integer(directory),
            .integer(rows[0])
        )
        #expect(try open.find("a") == nil)
        #expect(try open.find("dir/a") == nil)
        let survey = try open.survey()
        #expect(survey.damaged == 1)
        #expect(survey.paths == ["b", "c", "dir/file"])
    }

    @Test func `shows it where two directories took each other's files`() throws {
        try open.put("private/file", "of private")
        try open.put("public/other", "of public")
        var ids: [Int64] = []
        try open.connection.rows("SELECT id FROM file_nodes WHERE kind = 1 ORDER BY id") { row in
            ids.append(try row.integer(0))
            return true
        }
        try #require(ids.count == 2)
        try open.connection.execute("UPDATE file_nodes SET id = 9999 WHERE id = ?", .integer(ids[0]))
        try open.connection.execute("UPDATE file_nodes SET id = ? WHERE id = ?", .integer(ids[0]), .integer(ids[1]))
        try open.connection.execute("UPDATE file_nodes SET id = ? WHERE id = 9999", .integer(ids[1]))
        let moved = code {
            let text = try open.text("public/file")
            #expect(text == nil)
        }
        #expect(moved == .decode)
    }

    @Test func `detects a file that was rolled back as a whole`() throws {
        let oldPath = try open.contentPath("a")
        let oldContent = try bytes(at: oldPath)
        let old = try Column.allCases.map { ($0, try open.connection.read($0, of: rows[0])) }
        try open.put("a", "a newer content")
        var id: Int64 = 0
        try open.connection.rows("SELECT id FROM file_nodes") { row in
            let found = try row.integer(0)
            if !rows.contains(found) { id = found }
            return true
        }
        try open.connection.execute("UPDATE file_nodes SET id = ? WHERE id = ?", .integer(rows[0]), .integer(id))
        for (column, bytes) in old { try open.connection.write(bytes, to: column, of: rows[0]) }
        try overwrite(oldPath, oldContent)
        withKnownIssue("a rollback of the catalog is not noticed: a whole old row and its old content pass for new") {
            #expect(code { _ = try open.text("a") } == .decode)
        }
    }
}
