import CofferCore
import CofferDatabase
import CofferFiles
import CofferTestSupport
import Testing

extension OpenStore {
    func makeDirectory(
        _ path: String,
        _ defaultClass: ProtectionClass? = nil,
        parents: Bool = false,
        now: Int64 = 50
    ) throws {
        try store.makeDirectory(
            try ItemName(path),
            in: "default",
            defaultClass: defaultClass,
            makesParents: parents,
            now: now
        )
    }

    func move(_ path: String, _ target: String, replaces: Bool = false) throws {
        try store.move(
            try ItemName(path),
            to: try ItemName(target),
            in: "default",
            replaces ? .replaces : .refuses,
            now: 60
        )
        store.settleDurably()
    }

    func entry(_ path: String) throws -> FileEntry? { try store.entry(try ItemName(path), in: "default") }

    /// The paths below a directory, directories closed by a slash, sorted; and how many rows are damaged.
    func tree(_ path: String? = nil, isRecursive: Bool = true) throws -> [String] {
        let directory = try path.flatMap { try entry($0) }
        var walk = store.walk(below: directory, in: ["default"], isRecursive: isRecursive)
        var paths: [String] = []
        while let visit = try walk.next() {
            switch visit {
            case .entry(let entry): paths.append(entry.path + (entry.isDirectory ? "/" : ""))
            case .sealed(let entry): paths.append("sealed in '\(entry.directory)'")
            case .damaged(let damaged): paths.append("damaged in '\(damaged.directory)'")
            case .end: break
            }
        }
        return paths.sorted()
    }

    /// Removes a directory with all that is in it, some entries at a time.
    ///
    /// - Parameter between: Called while it rests.
    func removeAll(_ path: String, step: Int = 3, between: () throws -> Void = {}) throws -> TreeRemoval {
        var removal = try #require(try store.beginRemoval(of: try ItemName(path), in: "default"))
        var isDone = false
        while !isDone {
            var left = step
            isDone = try store.resume(with: &removal, now: 3) {
                left -= 1
                return left == 0
            }
            store.settleDurably()
            if !isDone { try between() }
        }
        return removal
    }

    /// Makes the metadata of an entry unreadable.
    func damage(_ path: String) throws {
        var rows: [Int64] = []
        try connection.rows("SELECT id FROM file_nodes") { row in
            rows.append(try row.integer(0))
            return true
        }
        let parent = try ItemName(path).service
        for row in rows {
            try connection.execute(
                "UPDATE file_nodes SET metadata = CAST(metadata || x'00' AS BLOB) WHERE id = ?",
                .integer(row)
            )
            // The entry can't be read, and what it is in can: it is this row.
            let isParentWell = parent.isEmpty || code { _ = try entry(parent) } == nil
            if isParentWell && code({ _ = try entry(path) }) == .decode { return }
            try connection.execute(
                "UPDATE file_nodes SET metadata = substr(metadata, 1, length(metadata) - 1) WHERE id = ?",
                .integer(row)
            )
        }
        Issue.record("no row is \(path)")
    }
}

@Suite struct `The tree of directories` {
    // MARK: Making

    @Test func `keeps a directory that was made when it is empty, and drops one that was made by the way`() throws {
        let open = try OpenStore()
        try open.makeDirectory("made")
        try open.put("made/by/the/way", "1")
        try open.put("way/file", "2")
        try open.remove("made/by/the/way")
        try open.remove("way/file")
        #expect(try open.tree() == ["made/"])
        let made = try #require(try open.entry("made"))
        #expect(made.isDirectory)
        #expect(made.metadata.created == 50)
        #expect(made.protectionClass == nil)
        #expect(made.file == nil)
        #expect(try open.store.childCount(of: made) == 0)
        try open.store.removeEntry(try ItemName("made"), in: "default", now: 3)
        #expect(try open.tree() == [])
        #expect(try open.count("SELECT count(*) FROM file_nodes") == 0)
    }

    @Test func `makes the parents where that is wanted, and stays with what is there`() throws {
        let open = try OpenStore()
        #expect(code { try open.makeDirectory("a/b/c") } == .itemNotFound)
        #expect(try open.tree() == [])
        try open.makeDirectory("a/b/c", .complete, parents: true)
        #expect(try open.tree() == ["a/", "a/b/", "a/b/c/"])
        #expect(try open.entry("a/b/c")?.protectionClass == .complete)
        #expect(try open.entry("a/b")?.protectionClass == nil)
        #expect(code { try open.makeDirectory("a/b/c") } == .duplicateItem)
        try open.makeDirectory("a/b/c", parents: true)
        try open.makeDirectory("a/b/c", .complete, parents: true)
        #expect(code { try open.makeDirectory("a/b/c", ProtectionClass.none, parents: true) } == .duplicateItem)
        #expect(try open.entry("a/b/c")?.protectionClass == .complete)
        try open.put("file", "1")
        #expect(code { try open.makeDirectory("file") } == .duplicateItem)
        #expect(code { try open.makeDirectory("file", parents: true) } == .duplicateItem)
        #expect(code { try open.makeDirectory("file/below", parents: true) } == .param)
        try open.put("way/file", "2")
        try open.makeDirectory("way", parents: true)
        try open.remove("way/file")
        #expect(try open.tree() == ["a/", "a/b/", "a/b/c/", "file", "way/"])
    }

    @Test func `gives a new file the class of the nearest directory that has one`() throws {
        let open = try OpenStore()
        try open.makeDirectory("a", .complete)
        try open.makeDirectory("a/b")
        try open.makeDirectory("a/b/c", ProtectionClass.none)
        func inherited(_ path: String) throws -> ProtectionClass? {
            try open.store.defaultClass(for: try ItemName(path), in: "default")
        }
        #expect(try inherited("file") == nil)
        #expect(try inherited("a") == nil, "of itself it has none")
        #expect(try inherited("a/file") == .complete)
        #expect(try inherited("a/new/deep/file") == .complete)
        #expect(try inherited("a/b/file") == .complete)
        #expect(try inherited("a/b/c/file") == ProtectionClass.none)
        let name = try ItemName("a/file")
        #expect(try open.store.defaultClass(for: name, in: "another") == nil)
        let directory = try #require(try open.entry("a"))
        try open.store.setDefaultClass(of: directory, to: .completeUnlessOpen, now: 99)
        #expect(try inherited("a/b/file") == .completeUnlessOpen)
        #expect(try open.entry("a")?.metadata.modified == 99)
        #expect(try open.entry("a")?.metadata.created == 50)
    }

    // MARK: Moving

    @Test func `moves a file with its content, its class and its dates`() throws {
        let open = try OpenStore()
        try open.put("from/file", Array("text".utf8), .complete, now: 7)
        let content = try open.contentPath("from/file")
        try open.move("from/file", "to/another/name")
        #expect(try open.tree() == ["to/", "to/another/", "to/another/name"])
        #expect(try open.text("to/another/name") == "text")
        #expect(try open.contentPath("to/another/name") == content)
        let file = try #require(try open.find("to/another/name"))
        #expect(file.protectionClass == .complete)
        #expect(file.modified == 7)
        #expect(try open.store.count() == 1)
    }

    @Test func `moves a directory with all that is in it by one row`() throws {
        let open = try OpenStore()
        for number in 0..<20 { try open.put("a/b/\(number)", "\(number)") }
        try open.makeDirectory("a/empty", .complete)
        let former = try open.rows()
        try open.move("a", "x/y")
        let rows = try open.rows()
        let changed = rows.filter { former[$0.key] != $0.value }
        #expect(changed.count == 2, "the directory, and the one that its new path needs")
        #expect(try open.text("x/y/b/13") == "13")
        #expect(try open.entry("x/y/empty")?.protectionClass == .complete)
        #expect(try open.entry("a") == nil)
        #expect(try open.tree("x/y", isRecursive: false) == ["x/y/b/", "x/y/empty/"])
        #expect(try open.survey().damaged == 0)
    }

    @Test func `replaces what is there only where that is wanted and it is of the same kind`() throws {
        let open = try OpenStore()
        try open.put("one", "1")
        try open.put("two", "2")
        try open.makeDirectory("empty")
        try open.put("full/file", "3")
        #expect(code { try open.move("one", "two") } == .duplicateItem)
        #expect(code { try open.move("one", "empty", replaces: true) } == .duplicateItem)
        #expect(code { try open.move("empty", "one", replaces: true) } == .duplicateItem)
        #expect(code { try open.move("empty", "full", replaces: true) } == .duplicateItem)
        #expect(code { try open.move("full", "empty") } == .duplicateItem)
        #expect(code { try open.move("missing", "two", replaces: true) } == .itemNotFound)
        #expect(code { try open.move("one", "two/below") } == .param)
        #expect(code { try open.move("one", "one/below") } == .param)
        #expect(try open.tree() == ["empty/", "full/", "full/file", "one", "two"])
        try open.move("one", "one")
        try open.move("one", "two", replaces: true)
        try open.move("full", "empty", replaces: true)
        #expect(try open.tree() == ["empty/", "empty/file", "two"])
        #expect(try open.text("two") == "1")
        #expect(try open.vault.placed.count == 2, "the replaced content is gone")
        #expect(try open.store.count() == 2)
        // Onto the directory that holds it.
        #expect(code { try open.move("empty/file", "empty", replaces: true) } == .duplicateItem)
        try open.move("empty/file", "empty2/file", replaces: true)
        #expect(try open.tree() == ["empty2/", "empty2/file", "two"])
    }

    @Test(arguments: ["d", "d/x", "d/a/b/c", "d/a"])
    func `does not move a directory into itself`(target: String) throws {
        let open = try OpenStore()
        try open.put("d/a/file", "1")
        try open.put("d2/file", "2")
        let found = code { try open.move("d", target) }
        #expect(found == (target == "d" ? nil : .param))
        #expect(try open.tree() == ["d/", "d/a/", "d/a/file", "d2/", "d2/file"])
        try open.move("d", "d2/inside")
        #expect(try open.text("d2/inside/a/file") == "1")
    }

    @Test func `keeps every path within its depth when a directory is moved`() throws {
        let open = try OpenStore()
        let deep = Array(repeating: "x", count: Limits.nameComponents - 1).joined(separator: "/")
        try open.put("d/\(deep)", "1")
        try open.put("other/file", "2")
        #expect(code { try open.move("d", "other/d") } == .param)
        try open.move("d", "e")
        #expect(try open.text("e/\(deep)") == "1")
        // A file in the deepest directory counts, and an empty directory there does not.
        try open.move("e/x", "f")
        #expect(code { try open.move("f", "1/2/3") } == .param)
        try open.move("f", "1/2")
        #expect(try open.tree().count == Limits.nameComponents + 2)
    }

    @Test func `keeps every path within its length when a directory is moved`() throws {
        let open = try OpenStore()
        let part = String(repeating: "n", count: Limits.nameComponentBytes)
        let parts = Array(repeating: part, count: 15).joined(separator: "/")
        // 4095 bytes, of which the directory's name has one.
        let path = "d/" + parts + "/" + String(repeating: "l", count: 4095 - 2 - parts.utf8.count - 1)
        try open.put(path, "1")
        #expect(code { try open.move("d", "ddd") } == .param)
        try open.move("d", "dd")
        let longest = "d" + path
        #expect(longest.utf8.count == Limits.nameBytes)
        #expect(try open.text(longest) == "1")
    }

    @Test func `moves nothing of another group`() throws {
        let open = try OpenStore()
        try open.put("dir/file", "1")
        let name = try ItemName("dir")
        let target = try ItemName("other")
        #expect(code { try open.store.move(name, to: target, in: "them", .replaces, now: 0) } == .itemNotFound)
        #expect(code { try open.store.removeEntry(name, in: "them", now: 3) } == .itemNotFound)
        #expect(code { _ = try open.store.beginRemoval(of: name, in: "them") } == .itemNotFound)
        try open.store.makeDirectory(name, in: "them", defaultClass: nil, makesParents: false, now: 0)
        #expect(try open.tree() == ["dir/", "dir/file"])
    }

    @Test func `tells names apart by their bytes`() throws {
        let open = try OpenStore()
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        try open.makeDirectory(composed)
        try open.makeDirectory(decomposed)
        try open.move(composed, "\(decomposed)/\(composed)")
        #expect(try open.tree().count == 2)
        #expect(try open.entry(composed) == nil)
    }

    // MARK: Removing

    @Test func `removes a directory that is not empty only with all that is in it`() throws {
        let open = try OpenStore()
        for number in 0..<10 { try open.put("d/\(number % 3)/\(number)", "\(number)") }
        try open.makeDirectory("d/empty/deep", parents: true)
        try open.put("rest", "stays")
        #expect(code { try open.store.removeEntry(try ItemName("d"), in: "default", now: 3) } == .param)
        #expect(try open.store.beginRemoval(of: try ItemName("rest"), in: "default") == nil)
        #expect(code { _ = try open.store.beginRemoval(of: try ItemName("no"), in: "default") } == .itemNotFound)
        let removal = try open.removeAll("d")
        #expect(removal.removedCount == 16)
        #expect(removal.keptCount == 0)
        #expect(try open.tree() == ["rest"])
        #expect(try open.vault.placed.count == 1)
        #expect(try open.count("SELECT count(*) FROM file_nodes") == 1)
        #expect(try open.store.count() == 1)
    }

    @Test func `removes the directories around it that were made by the way`() throws {
        let open = try OpenStore()
        try open.put("a/b/c/file", "1")
        try open.makeDirectory("m")
        try open.put("m/b/c/file", "2")
        _ = try open.removeAll("a/b/c")
        _ = try open.removeAll("m/b/c")
        #expect(try open.tree() == ["m/"])
    }

    @Test func `leaves what comes in, or goes elsewhere, while it removes`() throws {
        let open = try OpenStore()
        for number in 0..<10 { try open.put("d/sub/\(number)", "\(number)") }
        var hasMoved = false
        let removal = try open.removeAll("d", step: 4) {
            if hasMoved { return }
            hasMoved = true
            try open.move("d/sub", "elsewhere")
        }
        #expect(removal.keptCount >= 1)
        let left = try open.tree("elsewhere")
        #expect(left.count > 5, "what was moved is not what was to be removed")
        let other = try OpenStore()
        for number in 0..<10 { try other.put("d/\(number)", "\(number)") }
        var isIn = false
        // The last one rests behind the tenth: the eleventh comes where the walk is at an end.
        let second = try other.removeAll("d", step: 10) {
            if isIn { return }
            isIn = true
            for number in 0..<50 { try other.put("d/new\(number)", "new") }
        }
        let rest = try other.tree("d")
        #expect(second.removedCount + rest.count >= 60)
        #expect((second.keptCount == 1) == !rest.isEmpty)
    }

    @Test func `counts what a transaction that was undone did not remove`() throws {
        let open = try OpenStore()
        for number in 0..<5 { try open.put("d/\(number)", "\(number)") }
        var removal = try #require(try open.store.beginRemoval(of: try ItemName("d"), in: "default"))
        try open.connection.beginBatch()
        _ = try open.store.resume(with: &removal, now: 3) { false }
        try open.connection.rollbackBatch()
        open.store.abandon(isCertain: true)
        open.store.settleDurably()
        #expect(try open.tree("d").count == 5)
        #expect(try open.text("d/3") == "3")
    }

    // MARK: Damage

    @Test func `a damaged entry costs itself only, and can be removed`() throws {
        let open = try OpenStore()
        for number in 0..<4 { try open.put("d/\(number)", "\(number)") }
        try open.put("d/sub/file", "below")
        try open.damage("d/2")
        #expect(try open.tree("d") == ["d/0", "d/1", "d/3", "d/sub/", "d/sub/file", "damaged in 'd'"])
        #expect(try open.text("d/1") == "1")
        #expect(code { _ = try open.entry("d/2") } == .decode)
        #expect(code { try open.move("d", "e") } == .decode, "the damaged row may be called that")
        try open.store.removeEntry(try ItemName("d/2"), in: "default", now: 3)
        open.store.settleDurably()
        #expect(try open.tree("d") == ["d/0", "d/1", "d/3", "d/sub/", "d/sub/file"])
        #expect(try open.vault.placed.count == 4)
    }

    @Test func `removes what is in a damaged directory as well`() throws {
        let open = try OpenStore()
        for number in 0..<4 { try open.put("d/sub/\(number)", "\(number)") }
        try open.damage("d/sub")
        #expect(try open.tree("d") == ["damaged in 'd'"])
        let removal = try open.removeAll("d")
        #expect(removal.removedCount == 6)
        #expect(try open.tree() == [])
        #expect(try open.vault.placed.isEmpty)
        #expect(try open.count("SELECT count(*) FROM file_nodes") == 0)
    }

    @Test func `finds out a row that was put into another directory`() throws {
        let open = try OpenStore()
        try open.put("a/file", "1")
        try open.put("b/other", "2")
        let target = try #require(
            try open.connection.row(
                """
                SELECT parent FROM file_nodes WHERE kind = 2 ORDER BY parent LIMIT 1
                """
            ) { try $0.integer(0) }
        )
        try open.connection.execute("UPDATE file_nodes SET parent = ? WHERE kind = 2", .integer(target))
        let damaged = try open.tree().filter { $0.hasPrefix("damaged") }
        #expect(damaged.count == 1)
    }
}

extension OpenStore {
    /// Every row, by its number.
    fileprivate func rows() throws -> [Int64: [[UInt8]]] {
        var rows: [Int64: [[UInt8]]] = [:]
        try connection.rows("SELECT id, name_tag, metadata, wrapped_key FROM file_nodes") { row in
            rows[try row.integer(0)] = [try row.blob(1), try row.blob(2), try row.blob(3)]
            return true
        }
        return rows
    }
}
