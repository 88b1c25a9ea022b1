import CofferCore
import CofferDatabase
import CofferFiles
import CofferTestSupport
import Testing

extension OpenStore {
    fileprivate func link(_ path: String, _ target: String) throws {
        try store.link(try ItemName(path), to: try ItemName(target), in: "default", now: 70)
        store.settleDurably()
    }

    fileprivate func symlink(_ path: String, _ target: String) throws {
        try store.makeSymbolicLink(
            try ItemName(path),
            to: target,
            in: "default",
            ownership: Ownership(),
            now: 70
        )
    }

    fileprivate func unlink(_ path: String) throws {
        try store.removeEntry(try ItemName(path), in: "default", now: 80)
        store.settleDurably()
    }

    fileprivate func links(_ path: String) throws -> Int64? { try entry(path).map { try store.linkCount(of: $0) } }
    fileprivate func inode(_ path: String) throws -> Int64? { try entry(path)?.inode }
    /// Checks all rows.
    fileprivate func check(repairs: Bool = false) throws -> [Finding] {
        let order = CheckOrder(groups: ["default"], repairs: repairs, now: 5000, limit: 1000)
        return try store.check(after: 0, order).findings
    }

    fileprivate func hexadecimal(_ number: Int64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    fileprivate var contentCount: Int { get throws { try vault.placed.count } }
}

/// Names that lead to one file, and names that lead to a name.
@Suite struct LinkTests {
    @Test func `all names of a file are equal, and the content stays until the last is removed`() throws {
        let open = try OpenStore()
        try open.put("a", "content")
        let inode = try #require(try open.inode("a"))
        try open.link("a", "d/b")
        try open.link("d/b", "c")
        #expect(try open.tree() == ["a", "c", "d/", "d/b"])
        for name in ["a", "d/b", "c"] {
            #expect(try open.inode(name) == inode)
            #expect(try open.links(name) == 3)
            #expect(try open.text(name) == "content")
        }
        #expect(try open.store.count() == 1)
        for (name, left) in [("a", ["d/b", "c"]), ("d/b", ["c"]), ("c", [])] {
            try open.unlink(name)
            #expect(try open.entry(name) == nil)
            for other in left {
                #expect(try open.text(other) == "content")
                #expect(try open.links(other) == Int64(left.count))
                #expect(try open.inode(other) == inode)
            }
            #expect(try open.check() == [])
        }
        #expect(try open.tree() == [])
        #expect(try open.store.count() == 0)
        #expect(try open.contentCount == 0)
        #expect(try open.count("SELECT count(*) FROM file_nodes") == 0)
    }

    @Test func `a put to one name is another file there, and leaves the other names`() throws {
        let open = try OpenStore()
        try open.put("a", "old")
        try open.link("a", "b")
        try open.put("b", "new")
        #expect(try open.text("a") == "old")
        #expect(try open.text("b") == "new")
        #expect(try open.inode("a") != open.inode("b"))
        #expect(try open.links("a") == 1)
        #expect(try open.store.count() == 2)
        try open.put("a", "newer")
        #expect(try open.contentCount == 2)
        #expect(try open.check() == [])
    }

    @Test func `a class is that of every name, and decides what protects them`() throws {
        let open = try OpenStore(.unlocked)
        try open.put("a", "content")
        try open.link("a", "d/b")
        let file = try #require(try open.find("d/b"))
        try open.store.protect(file, as: .none, now: 90)
        #expect(try open.entry("a")?.protectionClass == ProtectionClass.none)
        #expect(try open.count("SELECT count(*) FROM file_nodes WHERE class_key = 5") == 3)
        #expect(try open.check() == [])
        try open.store.protect(try #require(try open.find("a")), as: .complete, now: 91)
        #expect(try open.count("SELECT count(*) FROM file_nodes WHERE kind = 4 AND class_key = 5") == 0)
        #expect(try open.text("d/b") == "content")
    }

    @Test func `names move, are replaced and exchanged like those of other files`() throws {
        let open = try OpenStore()
        try open.put("a", "one")
        try open.link("a", "b")
        let inode = try open.inode("a")
        try open.move("a", "d/c")
        #expect(try open.inode("d/c") == inode && open.links("b") == 2)
        // Two names of one file: nothing is to be done.
        try open.move("b", "d/c", replaces: true)
        #expect(try open.tree() == ["b", "d/", "d/c"])
        #expect(code { try open.move("b", "d/c") } == .duplicateItem)
        try open.put("e", "two")
        try open.move("e", "b", replaces: true)
        #expect(try open.text("b") == "two" && open.text("d/c") == "one" && open.links("d/c") == 1)
        func exchange(_ one: String, _ other: String) throws {
            try open.store.move(try ItemName(one), to: try ItemName(other), in: "default", .exchanges, now: 5)
        }
        try exchange("b", "d/c")
        #expect(try open.text("b") == "one" && open.text("d/c") == "two" && open.inode("b") == inode)
        try exchange("d", "b")
        #expect(try open.tree() == ["b/", "b/c", "d"])
        #expect(try open.text("d") == "one")
        #expect(code { try exchange("b", "b/c") } == .param)
        #expect(code { try exchange("b/c", "b") } == .param)
        #expect(code { try exchange("b/c", "no") } == .itemNotFound)
        #expect(try open.check() == [])
    }

    @Test func `a symbolic link is kept as it was made, and followed nowhere`() throws {
        let open = try OpenStore()
        try open.put("f", "content")
        try open.symlink("d/s", "../f")
        try open.symlink("dangling", "nowhere/at all")
        let entry = try #require(try open.entry("d/s"))
        #expect(entry.type == .symbolicLink && entry.metadata.target == "../f" && entry.mode == 0o777)
        #expect(entry.protectionClass == nil && entry.file == nil)
        #expect(try open.find("d/s") == nil)
        #expect(try open.entry("d/s/x") == nil)
        #expect(code { try open.put("d/s", "over it") } == .param)
        #expect(code { try open.put("d/s/x", "through it") } == .param)
        #expect(code { try open.symlink("f", "a") } == .duplicateItem)
        #expect(code { try open.makeDirectory("d/s") } == .duplicateItem)
        #expect(try open.store.count() == 1)
        try open.move("f", "d/s", replaces: true)
        #expect(try open.text("d/s") == "content")
        try open.move("dangling", "d/s", replaces: true)
        #expect(try open.entry("d/s")?.metadata.target == "nowhere/at all")
        #expect(try open.contentCount == 0)
        try open.link("d/s", "t")
        #expect(try open.entry("t")?.metadata.target == "nowhere/at all" && open.links("t") == 2)
        try open.unlink("d/s")
        try open.unlink("t")
        #expect(try open.tree() == [])
        #expect(try open.check() == [])
    }

    @Test func `a directory has one name`() throws {
        let open = try OpenStore()
        try open.makeDirectory("d")
        #expect(code { try open.link("d", "e") } == .param)
        try open.put("a", "a")
        #expect(code { try open.link("a", "d") } == .duplicateItem)
        #expect(code { try open.link("a", "a/b") } == .param)
        #expect(code { try open.link("no", "b") } == .itemNotFound)
    }

    @Test func `a file has so many names and no more`() throws {
        let open = try OpenStore()
        try open.put("a", "content")
        for number in 1..<Limits.links { try open.link("a", "d/\(number)") }
        #expect(code { try open.link("a", "one more") } == .dataTooLarge)
        #expect(try open.links("a") == Int64(Limits.links))
        let removal = try open.removeAll("d", step: 100)
        #expect(removal.removedCount == Limits.links)
        #expect(try open.links("a") == 1)
        #expect(try open.text("a") == "content")
        try open.link("a", "one more")
    }

    @Test func `an open file keeps its content when its last name goes, and not before`() throws {
        let open = try OpenStore()
        let file = try open.store.openFiles.create(try ItemName("a"), in: "default", as: .complete, now: 5)
        file.use.handleCount = 1
        open.store.settleDurably()
        try open.link("a", "b")
        try open.unlink("a")
        #expect(try open.store.openFiles.entry(of: file).path == "b")
        #expect(try open.store.linkCount(of: open.store.openFiles.entry(of: file)) == 1)
        try open.unlink("b")
        #expect(try open.store.linkCount(of: open.store.openFiles.entry(of: file)) == 0)
    }

    @Test func `nothing is left of a file whose name goes before its last handle`() throws {
        let open = try OpenStore()
        weak var left: OpenFile?
        do {
            let file = try open.create("a")
            left = file
            try open.write([1, 2, 3], at: 0, to: file)
            try open.unlink("a")
            open.close(file)
        }
        #expect(left == nil)
    }

    @Test func `names of a file are removed while they are sealed, and the file with the last`() throws {
        let vault = try Vault(hasPasscode: true)
        do {
            let open = try OpenStore(vault, try vault.open(.unlocked))
            try open.put("a", Array("content".utf8), .completeUnlessOpen)
            try open.put("n", Array("named".utf8), .none)
            for (one, other) in [("a", "b"), ("a", "d/c"), ("n", "e/n")] { try open.link(one, other) }
        }
        do {
            let open = try OpenStore(vault, try vault.open(.beforeFirstUnlock))
            #expect(try open.text("e/n") == "named")
            #expect(code { try open.link("a", "x") } == .interactionNotAllowed)
            #expect(code { _ = try open.entry("b") } == .interactionNotAllowed)
            try open.unlink("b")
            try open.put("d/c", Array("another".utf8), .completeUnlessOpen)
            try open.unlink("n")
            #expect(try open.text("e/n") == "named")
        }
        let open = try OpenStore(vault, try vault.open(.unlocked))
        try open.store.versions.restoreReplaced()
        #expect(try open.text("a") == "content")
        #expect(try open.text("d/c") == "another")
        #expect(try open.links("a") == 1)
        #expect(try open.tree() == ["a", "d/", "d/c", "e/", "e/n"])
        #expect(try open.check() == [])
    }

    @Test func `doctor finds a name without its file, and a file without its names`() throws {
        let open = try OpenStore()
        for name in ["a", "x"] {
            try open.put(name, "content of \(name)")
            try open.link(name, "d/\(name)")
        }
        let (lost, kept) = (try #require(try open.inode("a")), try #require(try open.inode("x")))
        try open.connection.execute("DELETE FROM file_nodes WHERE kind = 4 AND target = ?", .integer(kept))
        try open.connection.execute("DELETE FROM file_nodes WHERE id = ?", .integer(lost))
        #expect(code { _ = try open.entry("a") } == .decode)
        #expect(try open.tree() == ["d/", "damaged in ''", "damaged in 'd'"])
        let found = try open.check()
        #expect(found.count == 3)
        _ = try open.check(repairs: true)
        #expect(try open.check() == [])
        let place = "recovered-" + open.hexadecimal(kept)
        #expect(try open.text(place) == "content of x")
        #expect(try open.links(place) == 1)
    }

    @Test func `a name that was bent to another file is damaged`() throws {
        let open = try OpenStore()
        for name in ["a", "x"] {
            try open.put(name, name)
            try open.link(name, "d/\(name)")
        }
        let other = try #require(try open.inode("x"))
        let inode = try #require(try open.inode("a"))
        try open.connection.execute(
            "UPDATE file_nodes SET target = ? WHERE kind = 4 AND target = ?",
            .integer(other),
            .integer(inode)
        )
        #expect(code { _ = try open.entry("a") } == .decode)
        try open.connection.execute("UPDATE file_nodes SET target = NULL WHERE kind = 4")
        #expect(code { _ = try open.entry("d/x") } == .decode)
    }

    @Test func `a transaction that is rolled back leaves every name as it was`() throws {
        let open = try OpenStore()
        try open.put("a", "content")
        try open.put("o", "other")
        func undone(_ body: () throws -> Void) throws {
            let before = try open.tree()
            try open.connection.beginBatch()
            try body()
            try open.connection.rollbackBatch()
            open.store.abandon(isCertain: true)
            #expect(try open.tree() == before)
            #expect(try open.check() == [])
            #expect(try open.text("a") == "content" && open.text("o") == "other")
        }
        let (a, b, o) = (try ItemName("a"), try ItemName("b"), try ItemName("o"))
        try undone { try open.store.link(a, to: b, in: "default", now: 1) }
        try open.link("a", "b")
        try undone { try open.store.removeEntry(a, in: "default", now: 1) }
        try undone { try open.store.move(o, to: b, in: "default", .replaces, now: 1) }
        try undone { try open.store.move(o, to: b, in: "default", .exchanges, now: 1) }
        try undone {
            try open.store.removeEntry(a, in: "default", now: 1)
            try open.store.removeEntry(b, in: "default", now: 1)
        }
        #expect(try open.links("a") == 2)
        #expect(try open.contentCount == 2)
    }
}
