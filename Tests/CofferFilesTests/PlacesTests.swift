import CofferFileContent
import CofferCore
import CofferDatabase
import CofferFiles
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// The names of a content: by POSIX, a name is on the disk when its own directory was synced, and no sooner.
@Suite struct `A content in its place` {
    private let saboteur = Saboteur()
    private let open: OpenStore

    init() throws {
        let vault = try Vault(hasPasscode: false)
        open = try OpenStore(vault, try vault.open(.noPasscode), fileSystem: saboteur.fileSystem)
    }

    private func put(_ count: Int) throws { for number in 0..<count { try open.put("\(number)", "content \(number)") } }

    @Test func `keeps its staged name until the directory of its place was synced`() throws {
        try put(Limits.stagedPlaces)
        #expect(try open.vault.placed.count == Limits.stagedPlaces)
        #expect(
            try open.vault.stagedNames.sorted() == open.vault.placed.map { ($0 as NSString).lastPathComponent }.sorted()
        )
        #expect(try open.vault.staged == [])
        // The next content is created, written twice and synced; then comes the first directory of a place.
        saboteur.arm(5)
        try open.put("next", "content")
        #expect(saboteur.disarm())
        #expect(try open.vault.stagedNames.count == Limits.stagedPlaces + 1)
        try open.put("last", "content")
        #expect(try open.vault.stagedNames.count == 1)
        for number in 0..<Limits.stagedPlaces { #expect(try open.text("\(number)") == "content \(number)") }
    }

    @Test func `has no staged name any more when the store has come up again`() throws {
        try put(3)
        #expect(try open.vault.stagedNames.count == 3)
        try open.store.recover()
        #expect(try open.vault.stagedNames == [])
        #expect(try open.vault.placed.count == 3)
    }

    @Test func `keeps its staged name if its place was not reached, until the store has come up again`() throws {
        // Created, written twice, synced with `staging`; then it is linked.
        saboteur.arm(6)
        try put(1)
        #expect(saboteur.disarm())
        #expect(try open.vault.staged.count == 1)
        let operations = try saboteur.operations { try open.store.recover() }
        // `staging`; the place, its directory and `blobs`; the staged name.
        #expect(operations == [.synchronize, .rename, .synchronize, .synchronize, .remove])
        #expect(try open.vault.stagedNames == [])
        #expect(try open.text("0") == "content 0")
    }

    @Test func `goes with both of its names`() throws {
        try put(2)
        try open.remove("0")
        #expect(try open.vault.stagedNames.count == 1)
        #expect(try open.vault.placed.count == 1)
    }

    // MARK: The dead

    private func declareDead(_ path: String) throws {
        let id = try open.store.prepareRead(try #require(try open.find(path))).id
        try open.connection.execute("INSERT INTO file_dead_contents (content) VALUES (?)", .blob(id.bytes))
    }

    private func deadCount() throws -> Int { try open.count("SELECT count(*) FROM file_dead_contents") }

    @Test func `stays if a row names it, though the table of the dead does as well`() throws {
        try put(2)
        try declareDead("0")
        try open.store.recover()
        #expect(try open.text("0") == "content 0")
        #expect(try deadCount() == 0)
    }

    @Test func `stays if a row in quarantine names it`() throws {
        try put(2)
        try declareDead("0")
        try open.connection.execute(
            """
            INSERT INTO file_quarantine (damage, moved, row, parent, name_tag, kind, class_key, content, wrapped_key, metadata)
            SELECT 'row', 1, id, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes
            """
        )
        try open.connection.execute("DELETE FROM file_nodes")
        try open.store.recover()
        #expect(try open.vault.placed.count == 2)
        #expect(try deadCount() == 0)
    }

    @Test func `stays if it was staged when it was declared dead`() throws {
        try open.put("0", Array("content 0".utf8), settles: false)
        try declareDead("0")
        try open.store.recover()
        #expect(try open.text("0") == "content 0")
        #expect(try open.vault.stagedNames == [])
    }

    @Test func `stays when its file goes, if a row in quarantine names it as well`() throws {
        try put(1)
        try open.connection.execute(
            """
            INSERT INTO file_quarantine (damage, moved, row, parent, name_tag, kind, class_key, content, wrapped_key, metadata)
            SELECT 'row', 1, 7, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes
            """
        )
        try open.remove("0")
        #expect(try open.vault.placed.count == 1)
        try open.store.recover()
        #expect(try open.vault.placed.count == 1)
        #expect(try deadCount() == 0)
    }
}

/// The names of an overlay: the catalog may name its chunks when one of them is on the disk.
@Suite struct `An overlay in its place` {
    private let saboteur = Saboteur()
    private let vault: Vault
    private let open: OpenStore

    init() throws {
        vault = try Vault(hasPasscode: false)
        open = try OpenStore(vault, try vault.open(.noPasscode), fileSystem: saboteur.fileSystem)
    }

    @Test(arguments: [false, true])
    func `has a staged name only until the first sync of a new file, which syncs that name as well`(
        isOpenedAgain: Bool
    ) throws {
        var file = try open.create("file")
        if isOpenedAgain {
            open.close(file)
            file = try open.open("file", for: .write)
        }
        #expect(try vault.staged.count == 1)
        try open.write(pattern(100), at: 0, to: file)
        let operations = try saboteur.operations { try open.sync(file) }
        // The overlay, `staging`; then the place, whose directory is synced before the staged name goes.
        #expect(operations == [.synchronize, .synchronize, .rename])
        #expect(try vault.placed.count == 1)
        try open.write(pattern(100), at: 5, to: file)
        #expect(try saboteur.operations { try open.sync(file) } == [.synchronize])
    }

    @Test func `is refused a sync that can't sync its staged name, and has no place then`() throws {
        let file = try open.create("file")
        try open.write(pattern(100), at: 0, to: file)
        saboteur.arm(2)
        #expect(code { try open.sync(file) } == .diskFull)
        #expect(saboteur.disarm())
        #expect(try vault.placed == [])
        try open.sync(file)
        #expect(try vault.placed.count == 1)
        #expect(try open.contents("file") == pattern(100))
    }

    @Test func `that was staged by a daemon that was killed is synced there before it has a place`() throws {
        _ = try open.create("file")
        let operations = try saboteur.operations { try open.store.recover() }
        // `staging`; the place, its directory and `blobs`; the staged name.
        #expect(operations == [.synchronize, .rename, .synchronize, .synchronize, .remove])
        #expect(try vault.stagedNames == [])
        #expect(try vault.placed.count == 1)
    }
}
