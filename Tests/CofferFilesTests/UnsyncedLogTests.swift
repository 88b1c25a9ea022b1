import CofferFileContent
import CofferCore
import CofferDatabase
import CofferFiles
import CofferMemory
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// Changes of open files that are logged, after a kill.
@Suite struct UnsyncedLogTests {
    private let vault: Vault
    private let log: String

    init() throws {
        vault = try Vault(hasPasscode: false)
        log = vault.temporary.path("unsynced")
    }

    /// Opens the store after a kill.
    private func open(bootID: String = "boot", fileSystem: FileSystem = .real) throws -> OpenStore {
        let open = try OpenStore(vault, try vault.open(.noPasscode), fileSystem: fileSystem, bootID: bootID)
        try open.store.recover()
        return open
    }

    private var isThere: Bool { FileManager.default.fileExists(atPath: log) }

    private var logged: [UInt8] { vault.temporary.contents("unsynced") ?? [] }

    /// What is found of a file, and the faults.
    private func found(_ name: String = "file", bootID: String = "boot") throws -> [UInt8] {
        let open = try open(bootID: bootID)
        #expect(open.store.openFiles.losses == [])
        return try open.contents(name)
    }

    @Test func `each kind of change is there, one after the other`() throws {
        var expected = pattern(200_000)
        func after(_ change: (OpenStore, OpenFile) throws -> Void) throws {
            do {
                let open = try open()
                try change(open, try open.open("file", for: .write))
            }
            #expect(try found() == expected)
        }
        do { try open().put("file", expected) }
        expected = replacing(expected, at: 70_000, with: pattern(10))
        try after { try $0.write(pattern(10), at: 70_000, to: $1, isLogged: true) }
        expected = Array(expected.prefix(70_005))
        try after { try $0.truncate($1, to: 70_005, isLogged: true) }
        expected += [UInt8](repeating: 0, count: 200_000)
        try after { try $0.truncate($1, to: 270_005, isLogged: true) }
        expected = replacing(expected, at: 268_000, with: pattern(9000))
        try after { try $0.write(pattern(9000), at: 268_000, to: $1, isLogged: true) }
        expected.replaceSubrange(1000..<260_000, with: repeatElement(0, count: 259_000))
        try after { try $0.punch(try $0.store.plans.zeroing(1000..<260_000, of: $1), $1, isLogged: true) }
        expected += [UInt8](repeating: 0, count: 23_000)
        try after {
            let change = FileChange(size: .atLeast(300_000), time: 7)
            try $0.store.openFiles.make(change, in: $1, isLogged: true)
        }
        #expect(try open().find("file")?.metadata.times.modified == 7)
        expected = []
        try after { try $0.truncate($1, to: 0, isLogged: true) }
        #expect(!isThere)
    }

    /// Random changes, syncs, closes and kills of two files beside a model of them.
    @Test(arguments: 0..<12 as Range<UInt64>) func `nothing that was answered is lost`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var models: [String: [UInt8]] = ["a": [], "b": pattern(100_000)]
        do {
            let open = try open()
            open.close(try open.create("a"))
            try open.put("b", pattern(100_000))
        }
        for _ in 0..<12 {
            let open = try open()
            #expect(open.store.openFiles.losses == [])
            for (name, model) in models { #expect(try open.contents(name) == model, "\(name)") }
            var files: [String: OpenFile] = [:]
            for _ in 0..<Int.random(in: 0...25, using: &random) {
                let name = ["a", "b"][Int.random(in: 0...1, using: &random)]
                let file = try files[name] ?? open.open(name, for: .write)
                files[name] = file
                var model = models[name] ?? []
                let place = Int.random(in: 0...150_000, using: &random)
                switch Int.random(in: 0...9, using: &random) {
                case 0...4:
                    let bytes = pattern(Int.random(in: 1...20_000, using: &random)).map { $0 ^ UInt8(place & 255) }
                    try open.write(bytes, at: Int64(place), to: file, isLogged: true)
                    model = replacing(model, at: place, with: bytes)
                case 5:
                    try open.truncate(file, to: Int64(place), isLogged: true)
                    model = Array(model.prefix(place)) + [UInt8](repeating: 0, count: max(0, place - model.count))
                case 6:
                    let range = Int64(place)..<Int64(place) + 60_000
                    try open.punch(try open.store.plans.zeroing(range, of: file), file, isLogged: true)
                    let zeros = (place..<place + 60_000).clamped(to: 0..<model.count)
                    model.replaceSubrange(zeros, with: repeatElement(0, count: zeros.count))
                case 7, 8: try open.sync(file)
                default:
                    try open.sync(file)
                    open.close(file)
                    files[name] = nil
                }
                models[name] = model
                if files[name] == nil { continue }
                #expect(try open.read(file, 0..<file.byteCount) == model)
            }
        }
    }

    @Test func `what was synced stays, however much of the log is there`() throws {
        var copies: [[UInt8]] = []
        do {
            let open = try open()
            let file = try open.create("file")
            let other = try open.create("other")
            try open.write([1], at: 0, to: other, isLogged: true)
            // The second sync frees the slot of the first chunk, and the third one writes it.
            for (index, byte) in [(0, 1), (0, 2), (1, 3), (0, 4)] as [(Int64, UInt8)] {
                try open.write([UInt8](repeating: byte, count: 4096), at: index * 4096, to: file, isLogged: true)
                copies.append(logged)
                try open.sync(file)
            }
        }
        let expected = [UInt8](repeating: 4, count: 4096) + [UInt8](repeating: 3, count: 4096)
        for copy in copies + [copies[3], []] {
            try overwrite(log, copy)
            #expect(try found() == expected)
            #expect(try open().contents("other") == [1])
        }
    }

    @Test func `what was replayed can be replayed again`() throws {
        do {
            let open = try open()
            let file = try open.create("file")
            try open.write(pattern(50_000), at: 0, to: file, isLogged: true)
            try open.truncate(file, to: 30_000, isLogged: true)
        }
        let copy = logged
        #expect(try found() == Array(pattern(50_000).prefix(30_000)))
        try overwrite(log, copy)
        do {
            let open = try open()
            let file = try open.open("file", for: .write)
            try open.truncate(file, to: 10, isLogged: true)
            try open.write(pattern(5), at: 4096, to: file, isLogged: true)
            try open.sync(file)
        }
        try overwrite(log, copy)
        #expect(try found() == replacing(Array(pattern(10)), at: 4096, with: pattern(5)))
    }

    /// Writes three chunks.
    ///
    /// - Returns: The size of the log after each.
    private func writeThrice() throws -> [Int] {
        let open = try open()
        let file = try open.create("file")
        return try (0..<3).map { chunk in
            try open.write([1], at: Int64(chunk * 4096), to: file, isLogged: true)
            return logged.count
        }
    }

    /// The content after that many of these writes.
    private func chunks(_ count: Int) -> [UInt8] {
        (0..<count).reduce(into: []) { $0 = replacing($0, at: $1 * 4096, with: [1]) }
    }

    @Test func `a record that was interrupted ends the log`() throws {
        for (count, cut) in [(2, -1), (2, 1), (1, 12), (1, 1), (3, 0), (3, -1), (2, 0), (1, 0), (0, 0)] {
            let test = try UnsyncedLogTests()
            let ends = [18] + (try test.writeThrice())
            try overwrite(test.log, Array(test.logged.prefix(ends[count] + cut)))
            #expect(try test.found() == chunks(cut < 0 ? count - 1 : count))
        }
    }

    private let fault = "what was written last before the daemon ended is lost in part: its log is damaged"

    @Test(arguments: [3, 8, 20]) func `a record that is damaged before others is a fault`(place: Int) throws {
        let end = try writeThrice()[0]
        var bytes = logged
        bytes[end + place] ^= 1
        try overwrite(log, bytes)
        let open = try open()
        #expect(try open.contents("file") == chunks(1))
        #expect(open.store.openFiles.losses.map(\.what) == [fault])
        open.store.openFiles.acknowledgeLosses()
        #expect(open.store.openFiles.losses == [])
    }

    @Test func `a log of many records that are none is a fault`() throws {
        let end = try writeThrice()[0]
        var crafted = ByteWriter()
        crafted.write(raw: logged.prefix(end))
        // Of the only record that is left, behind the head of the file.
        let last = logged[22..<30].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        for number in UInt64(1)...100_000 {
            crafted.write(UInt32(Limits.unsyncedRecordBytes))
            crafted.write(last + number)
        }
        try overwrite(log, crafted.bytes)
        let open = try open()
        #expect(try open.contents("file") == chunks(1))
        #expect(open.store.openFiles.losses.map(\.what) == [fault])
    }

    @Test func `a log that is longer than there can be is a fault`() throws {
        _ = try writeThrice()
        let whole = logged
        for surplus in 0...1 {
            try overwrite(log, whole)
            try #require(truncate(log, off_t(Limits.unsyncedLogBytes) + surplus) == 0)
            let open = try open()
            #expect(try open.contents("file") == chunks(3))
            #expect(open.store.openFiles.losses.map(\.what) == [String](repeating: fault, count: surplus))
        }
    }

    @Test func `no more is logged than a start reads, and what is refused is not changed`() throws {
        let open = try open()
        var refusal: ErrorCode?
        var count = 0
        while refusal == nil, count < 20 {
            let file = try open.create("file-\(count)")
            let change = FileChange(holes: Array(0..<100_000), size: .atLeast(5), time: 1)
            refusal = code { try open.store.openFiles.make(change, in: file, isLogged: true) }
            #expect(file.byteCount == (refusal == nil ? 5 : 0))
            #expect(logged.count <= Limits.unsyncedLogBytes)
            count += 1
        }
        #expect(refusal == .diskFull)
        #expect(count > 2)
    }

    @Test func `the log of another boot counts for nothing, nor does that of another vault`() throws {
        do {
            let open = try open()
            let file = try open.create("file")
            try open.write([1], at: 0, to: file)
            try open.sync(file)
            try open.write([2], at: 0, to: file, isLogged: true)
        }
        let copy = logged
        #expect(try found(bootID: "another") == [1])
        #expect(!isThere)
        let other = try Vault()
        do {
            let open = try OpenStore(other, try other.open(.unlocked))
            let file = try open.create("file")
            try open.write([3], at: 0, to: file, isLogged: true)
        }
        let foreign = other.temporary.contents("unsynced") ?? []
        try overwrite(log, foreign)
        #expect(try found() == [1])
        // With the head of this vault, its records are foreign as well.
        try overwrite(log, Array(copy.prefix(18)) + Array(foreign.dropFirst(18)))
        #expect(try found() == [1])
    }

    @Test func `what a client wrote that does not log is logged with the next change of one that does`() throws {
        do {
            let open = try open()
            let file = try open.create("file")
            try open.write(pattern(9000), at: 0, to: file)
            #expect(!isThere)
            try open.write([1], at: 20_000, to: file, isLogged: true)
            try open.write([2], at: 0, to: file)
        }
        #expect(try found() == replacing([2] + Array(pattern(9000).dropFirst()), at: 20_000, with: [1]))
    }

    @Test func `what is lost with the last handle stays lost`() throws {
        do {
            let open = try open()
            let file = try open.create("file")
            try open.write([1], at: 0, to: file)
            try open.sync(file)
            try open.write([2], at: 0, to: file, isLogged: true)
            open.close(file)
            // It writes the slot.
            let again = try open.open("file", for: .write)
            try open.write([3], at: 10_000, to: again)
            try open.sync(again)
        }
        #expect(try found() == replacing([1], at: 10_000, with: [3]))
    }

    @Test func `a file that was removed is no fault`() throws {
        do {
            let open = try open()
            let file = try open.create("file")
            let other = try open.create("other")
            try open.write([1], at: 0, to: other, isLogged: true)
            try open.write([1], at: 0, to: file, isLogged: true)
            try open.remove("file")
            try open.write([2], at: 0, to: file, isLogged: true)
        }
        #expect(try found("other") == [1])
        #expect(!isThere)
    }

    @Test func `a file whose row is damaged is a fault, and the others are whole`() throws {
        let node: Int64
        do {
            let open = try open()
            let files = try ["file", "other"].map { try open.create($0) }
            for file in files { try open.write([1], at: 0, to: file, isLogged: true) }
            node = files[0].inode
            try open.connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE id = ?", .integer(node))
        }
        let open = try open()
        #expect(try open.contents("other") == [1])
        let fault = "what was written last to the file with inode \(node) is lost: its row is damaged"
        #expect(open.store.openFiles.losses.map(\.what) == [fault])
    }

    @Test func `a time that a client states is that of the file`() throws {
        do {
            let open = try open()
            let file = try open.create("file")
            try open.write([1], at: 0, to: file, isLogged: true)
            let entry = try #require(try open.store.entry(try ItemName("file"), in: "default"))
            _ = try open.store.setAttributes(of: entry, to: AttributeChange(modified: 77), now: 99)
        }
        let open = try open()
        #expect(try open.find("file")?.metadata.times.modified == 77)
    }

    @Test func `on a full disk a change is refused, and the file is as it was`() throws {
        let saboteur = Saboteur()
        do {
            let open = try open(fileSystem: saboteur.fileSystem)
            let file = try open.create("file")
            for round in 0..<2 {
                // The chunk, and the log: at first, it is made.
                for target in round == 0 ? [1, 2, 3, 4, 5] : [1, 2] {
                    saboteur.arm(target)
                    #expect(code { try open.write([9], at: 0, to: file, isLogged: true) } == .diskFull)
                    #expect(saboteur.disarm())
                    #expect(try open.read(file, 0..<10) == (round == 0 ? [] : [1]))
                }
                try open.write([1], at: 0, to: file, isLogged: true)
            }
        }
        #expect(try found() == [1])
    }

    @Test func `a log that has grown is written anew, and stays short`() throws {
        var most = 0
        let models: [[UInt8]]
        do {
            let open = try open()
            let files = try ["a", "b"].map { try open.create($0) }
            let wanted = 3 * Int(Limits.unsyncedBytes) / 150
            for round in 0..<wanted {
                let byte = UInt8(truncatingIfNeeded: round)
                try open.write([byte], at: Int64(round % 9 * 4096), to: files[round % 2], isLogged: true)
                if round % 500 == 0 { most = max(most, logged.count) }
            }
            models = try files.map { try open.read($0, 0..<$0.byteCount) }
        }
        #expect(most < Int(Limits.unsyncedBytes) + 1000)
        #expect(try found("a") == models[0])
        let open = try open()
        #expect(try open.contents("b") == models[1])
    }

    @Test func `a log without changes that are not synced is written from its beginning`() throws {
        let open = try open()
        let file = try open.create("file")
        for byte in UInt8(0)..<100 {
            try open.write([byte], at: 0, to: file, isLogged: true)
            try open.sync(file)
        }
        #expect(logged.count < 200)
        open.store.openFiles.removeUnusedLog()
        #expect(!isThere)
    }
}
