import CofferSystem
import Foundation
import Testing

private let slotBytes = 4096

@Suite struct `A file with two slots` {
    private let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    /// A checksum is no authentication tag, but it depends on every byte.
    private func file(_ fileSystem: FileSystem = .real, mark: String = "TEST") throws -> TwoSlotFile {
        let directory = try Directory(makingPath: temporary.path, fileSystem: fileSystem)
        return TwoSlotFile("file", in: directory, mark: Array(mark.utf8)) { bytes in
            let sum = bytes.reduce(UInt32(7)) { ($0 &* 31) &+ UInt32($1) }
            return (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
        }
    }

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: temporary.path("file")))
    }

    private func inode() throws -> ino_t {
        try Directory(makingPath: temporary.path).open("file").status().st_ino
    }

    @Test func `is missing before the first record, and has the latest one from then on`() throws {
        let file = try file()
        #expect(try file.load() == .missing)
        for record in [[], [1], [2, 2], [UInt8](repeating: 3, count: 3000), [4]] as [[UInt8]] {
            try file.store(record)
            #expect(try file.load() == .record(record))
            #expect(temporary.contents("file")?.count == 2 * slotBytes)
        }
        #expect(try temporary.names == ["file"])
    }

    @Test func `stays the same file, with all of its blocks, whatever is stored`() throws {
        let file = try file()
        try file.store([1])
        let first = try inode()
        for number in 0..<10 { try file.store([UInt8(number)]) }
        #expect(try inode() == first)
        let status = try Directory(makingPath: temporary.path).open("file").status()
        #expect(status.st_blocks * 512 >= 2 * slotBytes)
        #expect(status.st_mode & 0o077 == 0)
    }

    @Test func `writes once and syncs once for a record, and nothing else`() throws {
        let saboteur = Saboteur(failing: .max)
        let file = try file(saboteur.fileSystem)
        try file.store([1])
        let making = saboteur.operations.count
        try file.store([2])
        #expect(Array(saboteur.operations[making...]) == [.write, .synchronize])
    }

    @Test func `has the record before, or the new one, wherever the write of a record was cut off`() throws {
        let file = try file()
        for number in UInt8(1)...4 {
            try file.store([number, number])
            let before = try #require(temporary.contents("file"))
            try file.store([number + 1])
            let after = try #require(temporary.contents("file"))
            let changed = before.indices.filter { before[$0] != after[$0] }
            let slot = try #require(changed.first) / slotBytes
            #expect(changed.allSatisfy { $0 / slotBytes == slot }, "one slot alone is written")
            for cut in 0...64 {
                let place = slot * slotBytes + cut
                let end = (slot + 1) * slotBytes
                let head = Array(after[..<place] + before[place...])
                let tail = Array(before[..<place] + after[place..<end] + before[end...])
                for torn in [head, tail] {
                    try write(torn)
                    let found = try file.load()
                    #expect(found == .record([number, number]) || found == .record([number + 1]), "\(cut)")
                }
            }
            try write(after)
        }
    }

    @Test func `goes on from the slot that is whole, and mends the other one`() throws {
        let file = try file()
        for slot in 0..<2 {
            try file.store([1])
            var bytes = try #require(temporary.contents("file"))
            bytes[slot * slotBytes + 5] ^= 1
            try write(bytes)
            for number in UInt8(2)...5 {
                try file.store([number])
                #expect(try file.load() == .record([number]))
            }
            let mended = try #require(temporary.contents("file"))
            for other in 0..<2 {
                var torn = mended
                torn[other * slotBytes] ^= 1
                try write(torn)
                #expect(try [.record([5]), .record([4])].contains(file.load()))
            }
        }
    }

    @Test func `is damaged where both slots are, or at another length, until the next record`() throws {
        let file = try file()
        try file.store([1])
        let whole = try #require(temporary.contents("file"))
        for place in 0..<19 {
            var bytes = whole
            bytes[place] ^= 0x80
            bytes[slotBytes + place] ^= 0x80
            try write(bytes)
            #expect(try file.load() == .damaged, "byte \(place)")
        }
        for bytes in [[], [0], Array(whole.dropLast()), Array(whole.prefix(slotBytes)), whole + [0]] {
            try write(bytes)
            #expect(try file.load() == .damaged, "\(bytes.count) bytes")
            try file.store([9])
            #expect(try file.load() == .record([9]))
        }
        try write(whole)
        #expect(try self.file(mark: "TESU").load() == .damaged)
    }

    @Test(arguments: [false, true])
    func `has the record before, or the new one, whichever operation fails, and takes the next`(isMade: Bool) throws {
        var steps = 0
        for step in 1...100 {
            try? FileManager.default.removeItem(atPath: temporary.path("file"))
            if isMade {
                try file().store([1])
                try file().store([2])
            }
            let saboteur = Saboteur(failing: step)
            let file = try file(saboteur.fileSystem)
            let code = failure { () throws(SystemError) in try file.store([3]) }
            #expect(code == (saboteur.hasStruck ? ENOSPC : nil), "step \(step)")
            let found = try file.load()
            #expect(found == .record([3]) || found == (isMade ? .record([2]) : .missing), "step \(step)")
            // A failed sync says nothing about the disk, so the next write must not go to the slot that is
            // on it.
            if isMade && code != nil { #expect(found == .record([2]), "step \(step)") }
            try self.file().store([4])
            #expect(try file.load() == .record([4]))
            steps = step
            if !saboteur.hasStruck { break }
        }
        #expect(steps == (isMade ? 2 : 6) + 1)
    }

    @Test func `is neither read nor written through a symbolic link`() throws {
        try file().store([1])
        try FileManager.default.moveItem(atPath: temporary.path("file"), toPath: temporary.path("outside"))
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path("file"),
            withDestinationPath: temporary.path("outside")
        )
        let before = temporary.contents("outside")
        let file = try file()
        let code = failure { () throws(SystemError) in try file.load() }
        #expect(code == ELOOP)
        try file.store([2])
        #expect(temporary.contents("outside") == before)
        #expect(try file.load() == .record([2]))
    }
}
