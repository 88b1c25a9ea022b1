import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Names of arbitrary bytes, through the socket.
@Suite struct FileNameTests {
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    private static let names = [
        "a\nb", "\u{1}\u{1F}\u{7F}", "\t", " ", "\\", "\"", "'", "*", "-rf", "...", "a\u{85}b",
        "\u{202E}gpj.exe", "\u{2028}", "\u{FEFF}", "\u{10FFFF}", "\u{1F468}\u{200D}\u{1F469}", composed, decomposed,
        "\u{212B}", "\u{C5}", "A\u{30A}", "\u{301}first/\u{301}second",
        String(repeating: "\u{1F600}", count: 63) + "abc",
        String(repeating: "\u{1}", count: 255),
    ]

    /// Stores a file under each name.
    private static func fill(_ client: BlockingClient, _ names: [String]) throws {
        for name in names { try client.put(name, Array(name.utf8)) { $0.kind = .database } }
    }

    private static func bytes(_ entry: FileInfo) -> [UInt8] { Array(entry.name.utf8) }

    private static func sorted(_ names: [[UInt8]]) -> [[UInt8]] { names.sorted { $0.lexicographicallyPrecedes($1) } }

    @Test func `a name is listed, shown and moved byte for byte`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        let deep = Array(repeating: String(repeating: "n", count: 254), count: 16).joined(separator: "/")
        let longest = deep + "/" + String(repeating: "l", count: Limits.nameBytes - deep.utf8.count - 1)
        #expect(longest.utf8.count == 4096)
        let names = Self.names + [longest]
        try Self.fill(client, names)
        let listed = try client.listFiles(recursive: true).entries.filter { !$0.isDirectory }.map(Self.bytes)
        let expected = Self.sorted(names.map { Array($0.utf8) })
        #expect(Self.sorted(listed) == expected)
        for name in names {
            let shown = try client.fileInfo(try ItemName(name))
            #expect(Self.bytes(shown) == Array(name.utf8))
            #expect(shown.byteCount == Int64(name.utf8.count))
        }
        for (number, name) in names.enumerated() {
            let moved = try client.moveFile(try ItemName(name), to: try ItemName("\(number)"))
            #expect(moved.name == "\(number)")
            let gone = try Outcome { _ = try client.fileInfo(try ItemName(name)) }
            #expect(gone == .refused(.itemNotFound))
            let back = try client.moveFile(try ItemName("\(number)"), to: try ItemName(name))
            #expect(Self.bytes(back) == Array(name.utf8))
            let content = try client.get(name)
            #expect(content == Array(name.utf8))
        }
        let after = try client.listFiles(recursive: true).entries.filter { !$0.isDirectory }.map(Self.bytes)
        #expect(Self.sorted(after) == expected)
    }

    @Test func `directories have any name too, and pages begin behind any of them`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        for name in Self.names { try client.makeDirectory(try ItemName(name), parents: true) }
        var found: [[UInt8]] = []
        var cursor: String?
        repeat {
            let page = try client.listFiles(limit: 2, cursor: cursor)
            #expect(page.entries.count <= 2)
            #expect(page.entries.allSatisfy { $0.isDirectory })
            found += page.entries.map(Self.bytes)
            cursor = page.cursor
        } while cursor != nil
        let tops = Set(Self.names.map { Array($0.utf8.split(separator: UInt8(ascii: "/"))[0]) })
        #expect(Self.sorted(found) == Self.sorted(Array(tops)))
    }

    @Test(arguments: ["n", "\u{1F600}"])
    func `a part of 255 bytes is a name, and one of 256 is none`(piece: String) throws {
        let full = String(repeating: piece, count: 255 / piece.utf8.count)
        let name = full + String(repeating: "x", count: 255 - full.utf8.count)
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        try client.makeDirectory(try ItemName(name))
        let listed = try client.listFiles().entries.map(Self.bytes)
        #expect(listed == [Array(name.utf8)])
        var raw = try RawConnection(server)
        for path in [
            name + "x", "\(name)/x\(name)", String(repeating: "x/", count: 2048) + "x", "a\u{0}b", "a//b", "..",
        ] {
            for method in [CofferWire.Method.fileMkdir, .fileStat, .fileList, .fileRemove] {
                try raw.send(method, ["name": .string(path)])
                let code = try raw.refusal()
                #expect(code == .param, "\(method)")
            }
            try raw.send(.fileRename, ["name": .string(name), "to": .string(path)])
            let code = try raw.refusal()
            #expect(code == .param)
        }
        #expect(try client.listFiles().entries.count == 1)
    }

    @Test func `names that look the same are two`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        try Self.fill(client, [Self.composed, Self.decomposed])
        try client.moveFile(try ItemName(Self.composed), to: try ItemName("d/\(Self.composed)"))
        let rest = Self.sorted(try client.listFiles(recursive: true).entries.map(Self.bytes))
        #expect(rest == [Array("d".utf8), Array("d/\(Self.composed)".utf8), Array(Self.decomposed.utf8)])
        let refused = try Outcome {
            try client.moveFile(try ItemName("d/\(Self.composed)"), to: try ItemName(Self.decomposed))
        }
        #expect(refused == .refused(.duplicateItem))
    }
}
