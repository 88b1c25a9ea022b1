import CofferCore
import CofferKeys
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// What version 1 of the format has left: two wrong passcodes at the vault of the frozen store.
@Suite struct `A count of version 1` {
    private static let passcode = "frozen passcode"
    private let vault: Vault
    private let file: [UInt8]

    init() throws {
        vault = try Vault()
        let vectors = "\(Project.root)/Tests/Vectors"
        for path in ["stores/v2/keybag", "stores/v2/device.key", "attempts/v1"] {
            let name = path.hasPrefix("attempts") ? "attempts" : String(path.split(separator: "/")[2])
            try vault.temporary.write(try Data(contentsOf: URL(filePath: "\(vectors)/\(path)")), to: name)
        }
        file = try #require(vault.temporary.contents("attempts"))
        try #require(Array(file[8..<12]) == [0, 1, 2, 2])
    }

    @Test func `is read, and is one of version 2 once the vault was opened`() throws {
        let keys = try vault.open()
        #expect(keys.failedAttempts == 2)
        let records = try vault.storedAttempts()
        #expect(records.latest == Array(file[10..<(file.count - 32)]), "the tags of the wrong ones stay")
        let reopened = try vault.open()
        #expect(reopened.failedAttempts == 2)
        #expect(try reopened.attempt("wrong one") == .authFailed)
        #expect(reopened.failedAttempts == 2, "it was tried before")
        #expect(try reopened.attempt("another") == .authFailed)
        #expect(reopened.failedAttempts == 3)
        #expect(try reopened.attempt(Self.passcode) == nil)
        #expect(try vault.open().failedAttempts == 0)
    }

    @Test func `counts even if there is no space for the new file, and no guess is made then`() throws {
        for step in 1...6 {
            try vault.temporary.write(file, to: "attempts")
            let full = Saboteur(failing: step, forGood: true)
            let directory = try Directory(makingPath: vault.temporary.path, fileSystem: full.fileSystem)
            let keys = try #require(try VaultKeys.find(in: directory))
            #expect(keys.failedAttempts == 2, "step \(step)")
            let error = keys.refusal(of: try .passcode(Self.passcode))
            #expect(error?.code == .diskFull, "step \(step)")
            #expect(try vault.open().failedAttempts == 2, "step \(step)")
            full.disarm()
            #expect(try keys.attempt(Self.passcode) == nil, "step \(step)")
        }
    }

    @Test func `is nine wrong ones where a byte is another, or it is cut off`() throws {
        for place in file.indices {
            var changed = file
            changed[place] ^= 1
            for bytes in [changed, Array(file.prefix(place))] {
                try vault.temporary.write(bytes, to: "attempts")
                #expect(try vault.open().failedAttempts == 9, "byte \(place)")
                #expect(vault.temporary.contents("attempts") == bytes, "nothing is put in its place")
            }
        }
    }

    @Test func `of version 2 is read as well`() throws {
        let frozen = try Data(contentsOf: URL(filePath: "\(Project.root)/Tests/Vectors/attempts/v2"))
        try vault.temporary.write(frozen, to: "attempts")
        #expect(try vault.open().failedAttempts == 2)
        #expect(vault.temporary.contents("attempts") == Array(frozen))
        let keys = try vault.open()
        #expect(try keys.attempt("wrong two") == .authFailed)
        #expect(keys.failedAttempts == 2)
    }
}

extension Vault {
    /// The records in the two slots of the file `attempts`, as FORMATS.md has them.
    func storedAttempts() throws -> (latest: [UInt8], former: [UInt8]) {
        let bytes = try #require(temporary.contents("attempts"))
        try #require(bytes.count == 8192)
        let slots = try [0, 4096].map { offset in
            let slot = Array(bytes[offset..<(offset + 4096)])
            try #require(slot.prefix(10).elementsEqual(Array("COFFERAT".utf8) + [0, 2]))
            let sequence = slot[10..<18].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let count = Int(slot[18]) << 8 | Int(slot[19])
            #expect(slot[(20 + count + 32)...].allSatisfy { $0 == 0 })
            return (sequence: sequence, record: Array(slot[20..<(20 + count)]))
        }
        .sorted { $0.sequence > $1.sequence }
        return (slots[0].record, slots[1].record)
    }
}
