import CofferFileContent
import CofferCore
import CofferFiles
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

@Suite struct `A file store that comes up again` {
    let vault: Vault

    init() throws { vault = try Vault(hasPasscode: false) }

    private func open() throws -> OpenStore { try OpenStore(vault, try vault.open(.noPasscode)) }

    private func recovered() throws -> OpenStore {
        let open = try open()
        try open.store.recover()
        return open
    }

    @Test func `sweeps what was staged and never committed`() throws {
        do {
            let open = try open()
            try open.put("file", "kept")
            let write = try open.store.prepareWrite(try ItemName("other"), in: "default", as: .none)
            _ = try write.perform(prefix: try SecretBytes("lost"), rest: nil)
        }
        #expect(try vault.staged.count == 1)
        let open = try recovered()
        #expect(try vault.staged == [])
        #expect(try vault.placed.count == 1)
        #expect(try open.survey().paths == ["file"])
        #expect(try open.text("file") == "kept")
    }

    @Test func `places what was committed and still staged`() throws {
        do { try open().put("file", Array("content".utf8), settles: false) }
        #expect(try vault.staged.count == 1)
        #expect(try vault.placed == [])
        do { #expect(try open().text("file") == "content", "it is read where it lies") }
        let open = try recovered()
        #expect(try vault.staged == [])
        #expect(try vault.placed.count == 1)
        #expect(try open.text("file") == "content")
    }

    @Test func `removes what is dead, and keeps what replaced it`() throws {
        do {
            let open = try open()
            try open.put("file", "old")
            try open.put("other", "other")
            try open.put("file", Array("new".utf8), settles: false)
            try open.store.remove(try #require(try open.find("other")), now: 3)
        }
        #expect(try vault.placed.count == 2)
        #expect(try vault.staged.count == 1)
        let open = try recovered()
        #expect(try vault.placed.count == 1)
        #expect(try vault.staged == [])
        #expect(try open.text("file") == "new")
        #expect(try open.survey().paths == ["file"])
        #expect(try open.count("SELECT count(*) FROM file_dead_contents") == 0)
    }

    @Test func `removes what was dead before it was ever placed`() throws {
        do {
            let open = try open()
            try open.put("file", Array("one".utf8), settles: false)
            try open.put("file", Array("two".utf8), settles: false)
        }
        #expect(try vault.staged.count == 2)
        let open = try recovered()
        #expect(try vault.staged == [])
        #expect(try vault.placed.count == 1)
        #expect(try open.text("file") == "two")
    }

    @Test func `sweeps what is none of its own, and does not mind what it can't sweep`() throws {
        do { try open().put("file", "content") }
        for name in ["junk", String(repeating: "f", count: 32), String(repeating: "z", count: 32), "..x"] {
            try Data("junk".utf8).write(to: URL(filePath: vault.temporary.path("blobs/staging/\(name)")))
        }
        try FileManager.default.createDirectory(
            atPath: vault.temporary.path("blobs/staging/directory"),
            withIntermediateDirectories: false
        )
        let open = try recovered()
        #expect(try vault.staged == ["directory"])
        #expect(try open.text("file") == "content")
    }

    @Test func `has nothing to do a second time`() throws {
        do { try open().put("file", Array("content".utf8), settles: false) }
        do { _ = try recovered() }
        let open = try recovered()
        try open.store.recover()
        #expect(try open.text("file") == "content")
    }

    @Test func `is not kept from coming up by a name that only looks like a content's`() throws {
        let id: ItemID
        do {
            let open = try open()
            // An id that begins with a zero nibble: one in sixteen does.
            repeat {
                try open.put("file", "content")
            } while try !open.contentPath("file").contains("/blobs/0")
            id = try open.store.prepareRead(try #require(try open.find("file"))).id
        }
        let name = "+" + id.hexadecimal.dropFirst()
        try Data("junk".utf8).write(to: URL(filePath: vault.temporary.path("blobs/staging/\(name)")))
        let text = try recovered().text("file")
        #expect(text == "content")
    }
}

@Suite struct `A disk that fails` {
    @Test(arguments: [0, 100, 65536, 140_000, 600_000])
    func `leaves the old content or the new, and nothing on the way, whichever step it is`(count: Int) throws {
        let vault = try Vault(hasPasscode: false)
        let saboteur = Saboteur()
        let open = try OpenStore(vault, try vault.open(.noPasscode), fileSystem: saboteur.fileSystem)
        let (old, new) = (Array("old content".utf8), pattern(count))
        var codes: [ErrorCode?] = []
        for step in 1...100 {
            try open.put("file", old)
            saboteur.arm(step)
            let found = code { try open.put("file", new) }
            let hasStruck = saboteur.disarm()
            codes.append(found)
            #expect(found == nil || found == .diskFull, "step \(step)")
            #expect(try open.read("file") == (found == nil ? new : old), "step \(step)")
            if found != nil { #expect(try vault.staged == [], "step \(step)") }
            // What is left over is made up for when the store comes up.
            try open.store.recover()
            #expect(try vault.staged == [], "step \(step)")
            #expect(try vault.placed.count == 1, "step \(step)")
            #expect(try open.read("file") == (found == nil ? new : old), "step \(step)")
            if !hasStruck { break }
        }
        // The file, its header, its chunks by fours, and two syncs; what is done after the commit does not fail the put.
        let writes = max(1, (count + 4 * 65536 - 1) / (4 * 65536))
        #expect(codes.count { $0 == .diskFull } == 4 + writes)
        #expect(codes.last == .some(nil))
        #expect(codes.count > 4 + writes + 2)
    }

    @Test func `leaves a file that is not there not there`() throws {
        let vault = try Vault(hasPasscode: false)
        let saboteur = Saboteur()
        let open = try OpenStore(vault, try vault.open(.noPasscode), fileSystem: saboteur.fileSystem)
        for step in 1...5 {
            saboteur.arm(step)
            #expect(code { try open.put("dir/file", "content") } == .diskFull, "step \(step)")
            #expect(saboteur.disarm())
            #expect(try open.find("dir/file") == nil)
            #expect(try vault.staged == [])
            #expect(try open.count("SELECT count(*) FROM file_nodes") == 0)
        }
        try open.put("dir/file", "content")
        #expect(try open.text("dir/file") == "content")
    }
}
