import Foundation
import Testing

/// What no source may contain, and what each room has to have.
@Suite struct HouseRulesTests {
    @Test(
        arguments: [
            (#"@testable"#, "tests use package access"),
            (#"\btry!"#, "handle the error"),
            (#"\bas!"#, "handle the mismatch"),
            (#"\bprint\("#, "Output owns standard output"),
            (#"XCTest"#, "Swift Testing only"),
            (#"\bnumericCast\("#, "it ends the process where the number does not fit"),
            (#"\bunsafelyUnwrapped\b"#, "check it"),
        ]
    )
    func `no source contains a forbidden pattern`(pattern: String, reason: String) throws {
        let regex = try Regex(pattern)
        for (place, line) in codeLines where line.contains(regex) {
            Issue.record("\(place): \(reason)")
        }
    }

    @Test func `only CofferFoundation imports Foundation`() throws {
        let words = /\bimport\s+(\w+\s+)?Foundation/
        for (place, line) in codeLines
        where !place.path.hasPrefix("Sources/CofferFoundation/") && line.contains(words) {
            Issue.record("\(place): it slows down the start, and makes copies that are never wiped")
        }
    }

    @Test func `both programs print at one place, where control characters are escaped`() throws {
        let printing = /\b(?:Glibc\.write|f?puts|[fv]?printf|putchar|perror|psignal|syslog|FileHandle)\(/
        let places = codeLines.filter { place, line in
            Self.programRooms.contains { place.path.hasPrefix("Sources/\($0)/") } && line.contains(printing)
        }
        let files = Set(places.map(\.place.path))
        #expect(files == ["Sources/CofferTerminal/Output.swift", "Sources/cofferd/Daemon.swift"])
    }

    /// What the two programs are made of, beside the rooms that they share with libraries.
    private static let programRooms = [
        "coffer", "CofferAdministration", "CofferBackup", "CofferBackupCommands", "CofferCommands", "CofferContents",
        "cofferd", "CofferImportExport", "CofferPrograms", "CofferSafetyCommands", "CofferSession",
        "CofferSSHAgent", "CofferTerminal",
    ]

    @Test func `no test imports a room as testable`() throws {
        for source in try Repository.sources(under: "Tests") {
            for (index, line) in source.lines.enumerated() where line.hasPrefix("@testable") {
                Issue.record("\(source.path):\(index + 1)")
            }
        }
    }

    @Test func `the one fatalError is where libsodium starts`() throws {
        let places = codeLines.filter { $0.line.contains("fatalError(") }.map(\.place.path)
        #expect(places == ["Sources/CofferMemory/Sodium.swift"])
    }

    /// An `!` behind a value, which is no operator and in no text.
    @Test func `no optional is unwrapped by force in the daemon`() throws {
        let forced = /[\w\)\]]!(?![="\w])/
        let text = /"(?:[^"\\]|\\.)*"/
        for (place, line) in codeLines where Self.isOfDaemon(place) && line.utf8.contains(UInt8(ascii: "!")) {
            let isClean = !line.replacing(text, with: "").contains(forced)
            #expect(isClean, "\(place): \(line)")
        }
    }

    /// Each of them is about what this project itself hands over: a size that a type has, or a constant.
    @Test func `the daemon's preconditions are these, and no input reaches them`() throws {
        let words = /\bprecondition(Failure)?\(/
        let places = codeLines.filter { Self.isOfDaemon($0.place) && $0.line.contains(words) }
        let counts = Dictionary(places.map { ($0.place.path, 1) }, uniquingKeysWith: +)
        #expect(counts == Self.preconditions)
    }

    private static let preconditions = [
        "Sources/CofferCore/ByteFormat.swift": 1, "Sources/CofferCrypto/BcryptKey.swift": 1,
        "Sources/CofferCrypto/ChunkCipher.swift": 1, "Sources/CofferCrypto/EncodedKey+Signing.swift": 1,
        "Sources/CofferCrypto/HMACSHA256.swift": 1, "Sources/CofferCrypto/KeyDerivation.swift": 1,
        "Sources/CofferCrypto/KeyedHash.swift": 1, "Sources/CofferCrypto/OneTimePassword.swift": 1,
        "Sources/CofferCrypto/SigningKey.swift": 3, "Sources/CofferHandlers/Items/ItemChanges.swift": 1,
        "Sources/CofferMemory/SecretBytes.swift": 3, "Sources/CofferMemory/Sodium.swift": 1,
        "Sources/CofferNodes/NodeMetadata.swift": 1, "Sources/CofferSystem/TwoSlotFile.swift": 1,
    ]

    private static func isOfDaemon(_ place: Place) -> Bool {
        (daemonRooms + ["CofferCore"]).contains { place.path.hasPrefix("Sources/\($0)/") }
    }

    @Test func `nothing is public but the two libraries and the values they name`() throws {
        let conformances = "Sources/CofferSession/ArgumentConformances.swift"
        // One of its words.
        let words = "Sources/CofferCommands/WordList.generated.swift"
        let text = /"(?:[^"\\]|\\.)*"/
        let exported = /\bpublic\b(?!\s+import\b)|\bopen\s+class\b/
        for (place, line) in codeLines
        where place.path != words && line.contains(exported) && line.replacing(text, with: "").contains(exported) {
            let values = [
                "Sources/CofferCore/", "Sources/CofferWire/Interface/", "Sources/CofferWire/MethodParameters.swift",
            ]
            let isAllowed = (Self.libraries + values).contains { place.path.hasPrefix($0) }
            #expect(isAllowed, "\(place)")
        }
        let importing = /^\s*public\s+import\b/
        for (place, line) in codeLines where line.contains(importing) {
            let places = Self.libraries + ["Sources/CofferWire/Interface/", conformances]
            let isAllowed = places.contains { place.path.hasPrefix($0) }
            #expect(isAllowed, "\(place)")
        }
    }

    private static let libraries = ["Sources/CofferClient/", "Sources/CofferFoundation/"]

    @Test func `the rooms without side effects have nothing unchecked`() throws {
        for room in ["CofferCore", "CofferRouting", "CofferWire"] {
            for source in try Repository.sources(under: "Sources/\(room)") {
                for line in source.lines.map(\.withoutComment) {
                    let isChecked = !line.contains("nonisolated(unsafe)") && !line.contains("@unchecked")
                    #expect(isChecked, "\(source.path)")
                }
            }
        }
    }

    @Test func `the daemon has no async code, and nothing unchecked crosses its threads`() throws {
        let words = /\b(async|await|actor|Task|DispatchQueue|@MainActor)\b/
        for room in Self.daemonRooms {
            for source in try Repository.sources(under: "Sources/\(room)") {
                for line in source.lines.map(\.withoutComment) {
                    #expect(!line.contains(words), "\(source.path): \(line)")
                    if Self.topRooms.contains(room) { #expect(!line.contains("@unchecked"), "\(source.path): \(line)") }
                }
            }
        }
    }

    /// What `cofferd` is made of.
    private static let daemonRooms =
        topRooms + [
            "CofferAccess", "CofferChunks", "CofferCrypto", "CofferDatabase", "CofferFiles", "CofferKeychain",
            "CofferKeys", "CofferMemory", "CofferNodes", "CofferRouting", "CofferSystem", "CofferTrash", "CofferWire",
        ]
    private static let topRooms = [
        "CofferBus", "CofferFileHandlers", "CofferHandlers", "CofferService", "CofferVault", "cofferd",
    ]

    @Test func `SQL is written in the stores and the catalog, and nowhere above them`() throws {
        let statement = /\b(SELECT [^ ]|INSERT (OR|INTO)|UPDATE \w+ SET|DELETE FROM|CREATE (TABLE|INDEX)|PRAGMA )/
        let stores = [
            "CofferAccess", "CofferDatabase", "CofferFiles", "CofferKeychain", "CofferNodes", "CofferTrash",
        ]
        let places = stores.map { "Sources/\($0)/" }
        for (place, line) in codeLines where line.contains(statement) {
            let isStore = (places + Self.catalog).contains { place.path.hasPrefix($0) }
            #expect(isStore, "\(place)")
        }
    }

    /// The catalog, and the schema that it compares with its own.
    private static let catalog = [
        "Sources/CofferVault/Catalog.swift", "Sources/CofferVault/CatalogSchema.generated.swift",
        "Sources/CofferVault/CatalogSettings.swift",
    ]

    @Test func `every bound of the daemon's top half is in Limits`() throws {
        let constant = /static let (?<name>\w+)(: \w+)? = (-?\d|(Duration)?\.(milli|nano)?seconds\()/
        // What files and descriptors are known by.
        let identifiers = ["applicationID", "first", "textColumn", "version"]
        for (place, line) in codeLines
        where Self.topRooms.contains(where: { place.path.hasPrefix("Sources/\($0)/") }) {
            guard let match = line.firstMatch(of: constant) else { continue }
            #expect(identifiers.contains(String(match.name)), "\(place)")
        }
    }

    @Test func `the way of a secret to its row is an afternoon's reading`() throws {
        let page = try String(
            contentsOf: Repository.root.appending(path: "Sources/CofferHandlers/CofferHandlers.docc/CofferHandlers.md"),
            encoding: .utf8
        )
        let files = page.matches(of: /`(Coffer\w+\/[\w\/+]+\.swift)`/).map { "Sources/\($0.1)" }
        #expect((10...12).contains(Set(files).count))
        let lines = try files.flatMap { path in
            try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8).split(separator: "\n")
        }
        let code = lines.count { !$0.trimmingPrefix(while: { $0 == " " }).hasPrefix("//") }
        #expect(code <= 2000)
    }

    @Test func `every room has a front page of ten to thirty-five lines`() throws {
        for room in try Repository.swiftRooms() {
            let page = Repository.root.appending(path: "Sources/\(room)/\(room).docc/\(room).md")
            let text = try String(contentsOf: page, encoding: .utf8)
            #expect(text.hasPrefix("# ``\(room)``\n"), "\(room)")
            let lineCount = text.count { $0 == "\n" }
            #expect((10...35).contains(lineCount), "\(room)")
            for phrase in ["**May not enter:**", "**Promises:**"] {
                #expect(text.contains(phrase), "\(room): \(phrase)")
            }
        }
    }

    @Test(arguments: ["Sources", "Tests"])
    func `no file that people write has more than 450 lines`(folder: String) throws {
        for source in try Repository.sources(under: folder) where !source.path.hasSuffix(".generated.swift") {
            #expect(source.lines.count <= 451, "\(source.path)")
        }
    }

    /// The place of a line.
    private struct Place: CustomStringConvertible {
        let path: String
        let number: Int
        var description: String { "\(path):\(number)" }
    }

    private let codeLines: [(place: Place, line: Substring)]

    init() throws { codeLines = try Self.allLines.get() }

    private static let allLines = Result {
        try Repository.sources(under: "Sources").flatMap { source in
            source.lines.enumerated().map { offset, line in
                (place: Place(path: source.path, number: offset + 1), line: line.withoutComment)
            }
        }
    }
}
