import CofferTestSupport
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
        where !place.path.hasPrefix("Sources/client/Foundation/") && line.contains(words) {
            Issue.record("\(place): it slows down the start, and makes copies that are never wiped")
        }
    }

    @Test func `both programs print at one place, where control characters are escaped`() throws {
        let printing = /\b(?:Glibc\.write|f?puts|[fv]?printf|putchar|perror|psignal|syslog|FileHandle)\(/
        let places = codeLines.filter { place, line in
            ["Sources/desktop/", "Sources/cli/", "Sources/programs/coffer"].contains { place.path.hasPrefix($0) }
                && line.contains(printing)
        }
        let files = Set(places.map(\.place.path))
        #expect(files == ["Sources/cli/Terminal/Output.swift", "Sources/programs/cofferd/Daemon.swift"])
    }

    @Test func `no test imports a room as testable`() throws {
        for source in try Repository.sources(under: "Tests") {
            for (index, line) in source.lines.enumerated() where line.hasPrefix("@testable") {
                Issue.record("\(source.path):\(index + 1)")
            }
        }
    }

    @Test func `the one fatalError is where libsodium starts`() throws {
        let places = codeLines.filter { $0.line.contains("fatalError(") }.map(\.place.path)
        #expect(places == ["Sources/base/Memory/Sodium.swift"])
    }

    /// An `!` behind a value, which is no operator and in no text.
    @Test func `no optional is unwrapped by force in the daemon`() throws {
        let forced = /[\w\)\]]!(?![="\w])/
        let text = /"(?:[^"\\]|\\.)*"/
        for (place, line) in codeLines where isOfDaemon(place) && line.utf8.contains(UInt8(ascii: "!")) {
            let isClean = !line.replacing(text, with: "").contains(forced)
            #expect(isClean, "\(place): \(line)")
        }
    }

    /// Each of them is about what this project itself hands over: a size that a type has, or a constant.
    @Test func `the daemon's preconditions are these, and no input reaches them`() throws {
        let words = /\bprecondition(Failure)?\(/
        let places = codeLines.filter { isOfDaemon($0.place) && $0.line.contains(words) }
        let counts = Dictionary(places.map { ($0.place.path, 1) }, uniquingKeysWith: +)
        #expect(counts == Self.preconditions)
    }

    private static let preconditions = [
        "Sources/base/Core/ByteFormat.swift": 1, "Sources/base/Crypto/BcryptKey.swift": 1,
        "Sources/base/Crypto/ChunkCipher.swift": 1, "Sources/base/Crypto/EncodedKey+Signing.swift": 1,
        "Sources/base/Crypto/HMACSHA256.swift": 1, "Sources/base/Crypto/KeyDerivation.swift": 1,
        "Sources/base/Crypto/KeyedHash.swift": 1, "Sources/base/Crypto/OneTimePassword.swift": 1,
        "Sources/base/Crypto/SigningKey.swift": 3, "Sources/vault/Handlers/Items/ItemChanges.swift": 1,
        "Sources/base/Memory/SecretBytes.swift": 3, "Sources/base/Memory/Sodium.swift": 1,
        "Sources/vault/Files/Nodes/NodeMetadata.swift": 1, "Sources/base/System/TwoSlotFile.swift": 1,
    ]

    private func isOfDaemon(_ place: Place) -> Bool {
        daemonFolders.contains { place.path.hasPrefix($0) }
    }

    /// What `cofferd` is made of.
    private let daemonFolders: [String]

    /// What runs on its loop.
    private static let topFolders = [
        "Sources/daemon/", "Sources/programs/cofferd/", "Sources/vault/Handlers/", "Sources/vault/Vault/",
    ]

    @Test func `nothing is public but the two libraries and the values they name`() throws {
        let conformances = "Sources/cli/CommandSupport/ArgumentConformances.swift"
        // One of its words.
        let words = "Sources/cli/Commands/WordList.generated.swift"
        let text = /"(?:[^"\\]|\\.)*"/
        let exported = /\bpublic\b(?!\s+import\b)|\bopen\s+class\b/
        for (place, line) in codeLines
        where place.path != words && line.contains(exported) && line.replacing(text, with: "").contains(exported) {
            let values = [
                "Sources/base/Core/", "Sources/base/Wire/Interface/", "Sources/base/Wire/MethodParameters.swift",
            ]
            let isAllowed = (Self.libraries + values).contains { place.path.hasPrefix($0) }
            #expect(isAllowed, "\(place)")
        }
        let importing = /^\s*public\s+import\b/
        for (place, line) in codeLines where line.contains(importing) {
            let places = Self.libraries + ["Sources/base/Wire/Interface/", conformances]
            let isAllowed = places.contains { place.path.hasPrefix($0) }
            #expect(isAllowed, "\(place)")
        }
    }

    private static let libraries = ["Sources/client/Client/", "Sources/client/Foundation/"]

    @Test func `the rooms without side effects have nothing unchecked`() throws {
        for folder in ["Sources/base/Core/", "Sources/base/Wire/", "Sources/vault/Routing/"] {
            for source in try Repository.sources(under: folder) {
                for line in source.lines.map(\.withoutComment) {
                    let isChecked = !line.contains("nonisolated(unsafe)") && !line.contains("@unchecked")
                    #expect(isChecked, "\(source.path)")
                }
            }
        }
    }

    @Test func `nothing unchecked crosses the threads of the daemon's top half`() throws {
        for (place, line) in codeLines where Self.topFolders.contains(where: { place.path.hasPrefix($0) }) {
            #expect(!line.contains("@unchecked"), "\(place)")
        }
    }

    @Test func `SQL is written in the stores and the catalog, and nowhere above them`() throws {
        let statement = /\b(SELECT [^ ]|INSERT (OR|INTO)|UPDATE \w+ SET|DELETE FROM|CREATE (TABLE|INDEX)|PRAGMA )/
        let places = [
            "Sources/base/Database/", "Sources/vault/Audit/", "Sources/vault/Files/", "Sources/vault/Keychain/",
            "Sources/vault/Past/", "Sources/vault/Rights/",
        ]
        for (place, line) in codeLines where line.contains(statement) {
            let isStore = (places + Self.catalog).contains { place.path.hasPrefix($0) }
            #expect(isStore, "\(place)")
        }
    }

    /// The catalog, and the schema that it compares with its own.
    private static let catalog = [
        "Sources/vault/Vault/Catalog.swift", "Sources/vault/Vault/CatalogSchema.generated.swift",
        "Sources/vault/Vault/CatalogSettings.swift",
    ]

    private static let boundedFolders = topFolders + ["Sources/client/", "Sources/desktop/", "Sources/cli/"]

    @Test func `every bound of the daemon's top half and of the clients is in Limits`() throws {
        let constant = /static let (?<name>\w+)(: \w+)? = (-?\d|(Duration)?\.(milli|nano)?seconds\()/
        // What files and descriptors are known by, and what the kernel's messages and our own memory begin with.
        let identifiers = [
            "applicationID", "direntBytes", "first", "head", "probeNumber", "root", "textColumn", "version",
        ]
        // Numbers of the formats and layouts that the command reads and writes.
        let formats = [
            "appendOnlyFlag", "byteCount", "checkBytes", "dayMilliseconds", "digestBytes", "endsEarly", "headBytes",
            "headerBytes", "immutableFlag", "keyBytes", "listedWords", "messageNumber", "nameDigits", "rsaSHA256",
            "rsaSHA512",
            "symbolCount", "trailerBytes", "versionOffset", "width",
        ]
        for (place, line) in codeLines
        where Self.boundedFolders.contains(where: { place.path.hasPrefix($0) }) {
            guard let match = line.firstMatch(of: constant) else { continue }
            let known = place.path.hasPrefix("Sources/cli/") ? identifiers + formats : identifiers
            #expect(known.contains(String(match.name)), "\(place)")
        }
    }

    @Test func `every room has a front page of ten to thirty-five lines`() throws {
        for room in try Manifest.rooms.get() {
            let page = Repository.root.appending(path: "\(room.folder)\(room).docc/\(room).md")
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

    @Test func `the top level has these only`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Repository.root.path)
        let shown = Set(names.filter { !$0.hasPrefix(".") && $0 != "Package.resolved" })
        #expect(shown == ["LICENSE", "Package.swift", "README.md", "Sources", "Tests", "packaging", "proto-docs"])
    }

    @Test func `no type has more than 80 methods or 12 stored properties`() throws {
        let report = try runCommand("\(Project.root)/packaging/tools/lines", ["--types"])
        #expect(report.status == 0 && report.errors.isEmpty, "\(report.errors)")
        #expect(report.text.isEmpty)
    }

    @Test func `no function has more than 80 lines`() throws {
        let opening = /(?<indent> *)(?:\S+ )*?(?:func |init[?(<]|deinit |subscript\().*/
        var count = 0
        for source in try Repository.sources(under: "Sources") where !source.path.hasSuffix(".generated.swift") {
            for (start, line) in source.lines.enumerated() where line.contains("func ") || line.contains("init") {
                guard !line.hasSuffix("}"), let match = line.wholeMatch(of: opening) else { continue }
                guard let end = Self.end(of: start, match.indent, in: source.lines) else { continue }
                #expect(end - start < 80, "\(source.path):\(start + 1)")
                count += 1
            }
        }
        #expect(count > 4000)
    }

    /// The last line of a function: a brace that is indented like its first line, since the formatter has laid it out.
    private static func end(of start: Int, _ indent: Substring, in lines: [Substring]) -> Int? {
        let inner = [" ", ")", "{", "#"].map { indent + $0 }
        let end = lines[(start + 1)...].firstIndex { line in !line.isEmpty && !inner.contains { line.hasPrefix($0) } }
        // A requirement of a protocol has none.
        return end.flatMap { lines[$0] == indent + "}" ? $0 : nil }
    }

    /// The place of a line.
    private struct Place: CustomStringConvertible {
        let path: String
        let number: Int
        var description: String { "\(path):\(number)" }
    }

    private let codeLines: [(place: Place, line: Substring)]

    init() throws {
        codeLines = try Self.allLines.get()
        daemonFolders = try Manifest.closure(of: "cofferd").map(\.folder)
    }

    private static let allLines = Result {
        try Repository.sources(under: "Sources").flatMap { source in
            source.lines.enumerated().map { offset, line in
                (place: Place(path: source.path, number: offset + 1), line: line.withoutComment)
            }
        }
    }
}
