import CofferSystem
import Foundation
import Testing

/// The exchange and the client of `proto-docs/PROTOCOL.md`, and the sizes of `FORMATS.md`, against the daemon.
@Suite struct ProtocolExamplesTests {
    @Test func `the exchange of the page happens byte for byte`() throws {
        let blocks = try Page("PROTOCOL.md").blocks("hex").map(Self.bytes)
        try #require(blocks.count == 2)
        let daemon = try ExampleDaemon()
        let connection = try UnixSocket.connect(to: daemon.socket)
        let request = blocks[0]
        try connection.write(all: request.span.bytes)
        let found = try connection.readExactly(blocks[1].count)
        #expect(found == blocks[1])
    }

    @Test func `the text beside the bytes says the same`() throws {
        for line in try Page("PROTOCOL.md").blocks("hex").joined() {
            let text = String(decoding: Self.bytes([line]).map { (32..<127).contains($0) ? $0 : 46 }, as: UTF8.self)
            #expect(line.dropFirst(49) == text)
        }
    }

    @Test func `the client of the page has fewer than 40 lines`() throws {
        let lines = try Self.client()
        #expect(lines.count < 40)
    }

    @Test(.enabled(if: Self.hasPython))
    func `the client of the page stores and fetches, small and large`() throws {
        let daemon = try ExampleDaemon()
        let client = daemon.folder.appending(path: "client.py")
        try Self.client().joined(separator: "\n").write(to: client, atomically: true, encoding: .utf8)
        func run(_ arguments: String..., input: Data = Data()) throws -> Programs.Outcome {
            let words = ["python3", client.path, daemon.socket] + arguments
            return try Programs.run(URL(filePath: "/usr/bin/env"), words, input: input)
        }
        let before = try run("status").text
        #expect(before == "noVault\n")
        let made = try daemon.coffer(["init", "--no-passcode"])
        #expect(made.status == 0, "\(made.errors)")
        let after = try run("status").text
        #expect(after == "noPasscode\n")
        let secret = Data("s3cr3t".utf8)
        let large = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for (name, content, store) in [("github.com/token", secret, "keychain"), ("backup.tar", large, "file")] {
            let put = try run("put", name, input: content)
            #expect(put.text == "\(store)\n", "\(put.errors)")
            let get = try run("get", name)
            #expect(get.output == content, "\(get.errors)")
        }
        let missing = try run("get", "nobody")
        #expect(missing.status == 1)
        #expect(missing.errors == "error: there is no item 'nobody'\n")
    }

    @Test func `the sizes of the formats page are those on disk`() throws {
        let header = ["plaintext bytes", "chunks", "nonces (suite 1)", "bytes on disk"]
        let rows = try Page("FORMATS.md").table(header).map { ($0[0], $0[3]) }
        let daemon = try ExampleDaemon()
        let made = try daemon.coffer(["init", "--no-passcode", "--no-recovery-key"])
        #expect(made.status == 0, "\(made.errors)")
        for (plaintext, onDisk) in rows {
            let content = Data(repeating: 7, count: try #require(Int(plaintext)))
            let put = try daemon.coffer(["put", "example", "--kind", "document", "--allow-empty"], input: content)
            #expect(put.status == 0, "\(put.errors)")
            let sizes = try Self.sizes(under: daemon.state.appending(path: "blobs"))
            #expect(sizes == [onDisk])
        }
        let text = try Page("FORMATS.md").text
        let keybag = try #require(try Self.size(of: daemon.state.appending(path: "keybag")))
        #expect(text.contains("\(keybag) bytes with one slot,"))
        let added = try daemon.coffer(["slot", "add"])
        #expect(added.status == 0, "\(added.errors)")
        let larger = try #require(try Self.size(of: daemon.state.appending(path: "keybag")))
        #expect(text.contains(" \(larger) bytes with the slot of a recovery key"))
        let attempts = try #require(try Self.size(of: daemon.state.appending(path: "attempts")))
        #expect(text.contains("\n\(attempts) bytes: two slots"))
    }

    static let hasPython = (try? Programs.run(URL(filePath: "/usr/bin/env"), ["python3", "--version"]).status) == 0

    private static func client() throws -> [Substring] {
        try #require(try Page("PROTOCOL.md").blocks("python").first)
    }

    /// The bytes of a dump: sixteen per line, the text after two spaces.
    static func bytes(_ dump: [Substring]) -> [UInt8] {
        dump.flatMap { line in line.prefix(47).split(separator: " ").compactMap { UInt8($0, radix: 16) } }
    }

    /// The sizes of the files under a folder.
    private static func sizes(under folder: URL) throws -> [String] {
        // A content keeps its staged name, which is another name of the same file, until its place is synced.
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix("staging/") }
            .compactMap { name in try size(of: folder.appending(path: name)) }
    }

    /// The size of a file; `nil` for anything else.
    private static func size(of path: URL) throws -> String? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path.path)
        guard attributes[.type] as? FileAttributeType == .typeRegular else { return nil }
        return (attributes[.size] as? Int).map { "\($0)" }
    }
}
