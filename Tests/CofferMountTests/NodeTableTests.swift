import CofferCore
import CofferMount
import Glibc
import Testing

/// Numbers, names and paths of what the kernel knows.
@Suite struct NodeTableTests {
    private typealias Place = NodeTable.Place

    private func place(_ name: String, in parent: UInt64 = NodeTable.root) -> Place { Place(parent, FileName(name)) }

    @Test func `a path leads through directories, and moves with them`() throws {
        var table = NodeTable()
        table.lookUp(2, at: place("a"))
        table.lookUp(3, at: place("b", in: 2))
        #expect(try table.path(of: 3) == "a/b")
        table.move(place("a"), to: place("c"))
        #expect(try table.path(of: 3) == "c/b")
        #expect(table.number(at: place("a")) == nil)
    }

    @Test func `the prefix of a mount comes before every path`() throws {
        let table = NodeTable(prefix: "photos/2026")
        #expect(try table.path(of: NodeTable.root) == "photos/2026")
        #expect(try table.path(of: FileName("x"), in: NodeTable.root).path == "photos/2026/x")
    }

    @Test func `a removed file keeps its number and has no path`() throws {
        var table = NodeTable()
        table.lookUp(2, at: place("a"))
        table.remove(place("a"))
        #expect(throws: Errno(ESTALE)) { try table.path(of: 2) }
        #expect(table.known == [2])
    }

    @Test func `what is renamed over is no longer found by that name`() throws {
        var table = NodeTable()
        table.lookUp(2, at: place("new"))
        table.lookUp(3, at: place("old"))
        table.move(place("new"), to: place("old"))
        #expect(try table.path(of: 2) == "old")
        #expect(throws: Errno(ESTALE)) { try table.path(of: 3) }
    }

    @Test func `names that were exchanged lead to each other's files`() throws {
        var table = NodeTable()
        table.lookUp(2, at: place("a"))
        table.lookUp(3, at: place("b"))
        table.exchange(place("a"), place("b"))
        #expect(try table.path(of: 2) == "b")
        #expect(try table.path(of: 3) == "a")
    }

    @Test func `a file with two names is found by the other when one is removed`() throws {
        var table = NodeTable()
        table.lookUp(2, at: place("a"))
        table.lookUp(2, at: place("b"))
        table.remove(place("a"))
        #expect(try table.path(of: 2) == "b")
    }

    @Test func `a file is forgotten after as many look-ups as there were`() throws {
        var table = NodeTable()
        table.lookUp(2, at: place("a"))
        table.lookUp(2, at: place("a"))
        table.forget(2, 1)
        #expect(try table.path(of: 2) == "a")
        table.forget(2, 1)
        #expect(table.number(at: place("a")) == nil)
        #expect(table.known.isEmpty)
    }

    @Test func `names are different if their bytes are`() throws {
        var table = NodeTable()
        table.lookUp(2, at: place("\u{e9}"))
        #expect(table.number(at: place("e\u{301}")) == nil)
    }

    @Test func `a path of the vault is found below the prefix only`() throws {
        var table = NodeTable(prefix: "photos")
        table.lookUp(2, at: place("a"))
        #expect(table.place(ofPath: "photos/a/b") == place("b", in: 2))
        #expect(table.place(ofPath: "photos/c") == place("c"))
        #expect(table.place(ofPath: "photos/c/d") == nil)
        #expect(table.place(ofPath: "other/a") == nil)
        #expect(table.place(ofPath: "photos") == nil)
    }

    @Test func `a path with more parts than a name has is too long`() throws {
        var table = NodeTable()
        for number in 2...UInt64(Limits.nameComponents + 2) {
            table.lookUp(number, at: place("d", in: number - 1))
        }
        #expect(throws: Errno(ENAMETOOLONG)) { try table.path(of: UInt64(Limits.nameComponents + 2)) }
    }

    @Test func `a directory that was removed is known until the kernel forgets it`() throws {
        var table = NodeTable()
        table.lookUp(2, at: place("d"))
        var attributes = Attributes.root(at: 0)
        attributes.number = 2
        table.remove(place("d"), directory: attributes)
        #expect(table.removedDirectory(2)?.linkCount == 0)
        #expect(throws: Errno(ESTALE)) { try table.path(of: 2) }
        table.forget(2, 1)
        #expect(table.removedDirectory(2) == nil)
    }
}
