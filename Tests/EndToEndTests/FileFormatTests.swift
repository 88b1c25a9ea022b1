import CSodium
import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The files of `proto-docs/FORMATS.md`, read by that page alone.
@Suite struct FileFormatTests {
    /// One row of the page's table of examples.
    struct Example: CustomTestStringConvertible, Sendable {
        let count: Int
        let isThroughHandle: Bool
        let isRewritten: Bool
        let base: Int?
        let overlay: Int?
        let rows: Int
        var testDescription: String { "\(count) bytes, \(isThroughHandle), \(isRewritten)" }
    }

    private static func page() throws -> String {
        try String(contentsOfFile: "\(Project.root)/proto-docs/FORMATS.md", encoding: .utf8)
    }

    private static let examples: [Example] = {
        let lines = (try? page())?.split(separator: "\n") ?? []
        return lines.compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5, let bytes = cells[0].wholeMatch(of: /(\d+) bytes?/), let rows = Int(cells[4]) else {
                return nil
            }
            return Example(
                count: Int(bytes.1) ?? 0,
                isThroughHandle: cells[1] == "a handle",
                isRewritten: cells[1].hasPrefix("put, then"),
                base: Int(cells[2]),
                overlay: Int(cells[3]),
                rows: rows
            )
        }
    }()

    @Test func `the page has its examples`() {
        #expect(Self.examples.count == 7)
        #expect(Set(Self.examples.map(\.count)) == [0, 1, 70_000])
    }

    private struct Row {
        let chunk: Int
        let slot: Int
        let count: Int
        let tag: [UInt8]
    }

    private func rows(_ statePath: String) throws -> [Row] {
        let copy = try TemporaryDirectory()
        for name in ["vault.sqlite", "vault.sqlite-wal"] {
            try copy.write(try Data(contentsOf: URL(filePath: "\(statePath)/\(name)")), to: name)
        }
        let catalog = try Connection(path: copy.appending("vault.sqlite"))
        var rows: [Row] = []
        try catalog.rows("SELECT chunk, slot, bytes, tag FROM file_chunks ORDER BY chunk") { row in
            rows.append(
                Row(
                    chunk: Int(try row.integer(0)),
                    slot: Int(try row.integer(1)),
                    count: Int(try row.integer(2)),
                    tag: try row.blob(3)
                )
            )
            return true
        }
        return rows
    }

    private func contents(_ statePath: String) throws -> (id: [UInt8], base: [UInt8]?, overlay: [UInt8]?) {
        let blobs = statePath + "/blobs"
        let paths = try FileManager.default.subpathsOfDirectory(atPath: blobs).filter {
            ($0 as NSString).lastPathComponent.count >= 32
        }
        let name = try #require(paths.first).split(separator: "/").last?.prefix(32) ?? ""
        let id = stride(from: 0, to: 32, by: 2).compactMap { UInt8(name.dropFirst($0).prefix(2), radix: 16) }
        // The final path comes first, as the page says.
        func read(_ suffix: String) -> [UInt8]? {
            [String(name.prefix(2)), "staging"].lazy
                .compactMap { FileManager.default.contents(atPath: "\(blobs)/\($0)/\(name)\(suffix)") }.first
                .map { Array($0) }
        }
        return (id, read(""), read(".overlay"))
    }

    /// The header of the page, with another id.
    private func header(_ line: Int, _ id: [UInt8], _ suite: UInt8) throws -> [UInt8] {
        let lines = try Self.page().split(separator: "\n").filter { $0.hasPrefix("43 4f 46 46 45 52") }
        var bytes = try #require(lines.dropFirst(line).first).split(separator: " ").compactMap { UInt8($0, radix: 16) }
        try #require(bytes.count == 32)
        #expect(Array(bytes[16...]) == Array(0..<16))
        bytes[10] = suite
        return Array(bytes[..<16]) + id
    }

    private func open(
        _ sealed: [UInt8],
        _ tag: [UInt8],
        _ chunk: Int,
        isLast: Bool,
        _ header: [UInt8],
        _ key: [UInt8]
    ) throws -> [UInt8] {
        let isGCM = header[10] == 1
        let place = (0..<8).map { UInt8(truncatingIfNeeded: chunk >> (56 - 8 * $0)) }
        let nonce = [isLast ? 1 : 0] + [UInt8](repeating: 0, count: isGCM ? 3 : 15) + place
        let input = sealed + tag
        var output = [UInt8](repeating: 0, count: sealed.count + 1)
        let decrypt = isGCM ? crypto_aead_aes256gcm_decrypt : crypto_aead_xchacha20poly1305_ietf_decrypt
        let code = decrypt(&output, nil, nil, input, UInt64(input.count), header, UInt64(header.count), nonce, key)
        try #require(code == 0)
        return Array(output.dropLast())
    }

    private func chunkKey(_ key: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        let message = Array("coffer chunk key v1".utf8) + [0] + salt
        var output = [UInt8](repeating: 0, count: 32)
        crypto_generichash(&output, 32, message, UInt64(message.count), key, key.count)
        return output
    }

    @Test(arguments: examples)
    func `a file is on disk what the page says, and reads by the page alone`(example: Example) throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        var content = pseudoRandomBytes(example.count)
        if example.isThroughHandle {
            let file = try client.openFile(try ItemName("a"), for: .write, .create)
            if example.count > 0 { try file.put(content, at: 0) }
            try file.close()
        } else {
            try client.put("a", content) { $0.kind = .database }
        }
        if example.isRewritten {
            let file = try client.openFile(try ItemName("a"), for: .write)
            try file.put([42], at: 5)
            try file.close()
            content[5] = 42
        }
        daemon.kill()
        let (id, base, overlay) = try contents(daemon.statePath)
        #expect(base?.count == example.base)
        #expect(overlay?.count == example.overlay)
        let rows = try rows(daemon.statePath)
        #expect(rows.count == example.rows)
        let keys = try KeybagReader(daemon.statePath, passcode: DaemonProcess.passcode).itemKeys(daemon.statePath)
        let key = try #require(keys.first { $0.key.hasPrefix("file") }?.value)
        var found = [UInt8](repeating: 0, count: example.count)
        if let base {
            let header = try header(0, id, base[10])
            #expect(Array(base[..<32]) == header)
            let chunkCount = max(1, (example.count + 65_535) / 65_536)
            for chunk in 0..<chunkCount {
                let start = 32 + chunk * 65_552
                let count = min(65_536, example.count - chunk * 65_536)
                let bytes = try open(
                    Array(base[start..<(start + count)]),
                    Array(base[(start + count)..<(start + count + 16)]),
                    chunk,
                    isLast: chunk == chunkCount - 1,
                    header,
                    key
                )
                found.replaceSubrange((chunk * 65_536)..<(chunk * 65_536 + count), with: bytes)
            }
        }
        if let overlay {
            let chunkBytes = 1 << Int(overlay[11])
            let header = try header(chunkBytes == 65_536 ? 1 : 2, id, overlay[10])
            #expect(Array(overlay[..<32]) == header)
            for row in rows {
                let start = 32 + row.slot * (16 + chunkBytes)
                let bytes = try open(
                    Array(overlay[(start + 16)..<(start + 16 + row.count)]),
                    row.tag,
                    row.chunk,
                    isLast: false,
                    header,
                    chunkKey(key, Array(overlay[start..<(start + 16)]))
                )
                let place = row.chunk * chunkBytes
                found.replaceSubrange(place..<(place + row.count), with: bytes)
            }
        }
        let isRight = found == content
        #expect(isRight)
    }

    @Test func `a large file takes no more than a thousandth more than it has`() throws {
        let count = 64 << 20
        // The file of the database grows in steps, whatever is stored.
        let step = 64 << 10
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        func size() throws -> Int {
            let used = try runCommand("/usr/bin/du", ["-s", "--apparent-size", "-B1", daemon.statePath])
            let byteCount = try #require(used.text.split(separator: "\t").first.flatMap { Int($0) })
            // The log has grown ahead of what it holds.
            guard let log = daemon.directory.contents("state/vault.sqlite-wal"), !log.isEmpty else { return byteCount }
            return byteCount - (log.count - CatalogLog.end(of: log))
        }
        let piece = pseudoRandomBytes(262_144)
        let before = try size()
        let file = try client.openFile(try ItemName("b"), for: .write, .create)
        for place in 0..<(count / piece.count) { try file.put(piece, at: Int64(place * piece.count)) }
        try file.close()
        // What the log holds goes into the database, or is used again.
        #expect(daemon.stop() == 0)
        let through = try size() - before
        #expect(through >= count)
        #expect(Double(through - count - step) / Double(count) < 0.001, "\(through - count) bytes by a handle")
        try daemon.restart()
        let between = try size()
        let source = try daemon.directory.write([], to: "source")
        try #require(truncate(source, off_t(count)) == 0)
        #expect(try daemon.coffer(["put", "a", "source", "--kind", "document"]).status == 0)
        #expect(daemon.stop() == 0)
        let put = try size() - between
        #expect(Double(put - count - step) / Double(count) < 0.001, "\(put - count) bytes by a put")
    }
}
