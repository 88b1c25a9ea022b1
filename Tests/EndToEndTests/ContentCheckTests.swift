import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `coffer doctor` on the contents of files.
@Suite struct ContentCheckTests {
    private let daemon: DaemonProcess
    private let content = pseudoRandomBytes(300_000)

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        try daemon.connect().put("notes/a", content) { $0.kind = .database }
    }

    /// The paths of the only content, or of its overlay: for a while it is in the folder of staged ones, too.
    private func paths(overlay: Bool = false) throws -> [String] {
        let blobs = daemon.statePath + "/blobs"
        let names = try FileManager.default.subpathsOfDirectory(atPath: blobs).filter {
            $0.hasSuffix(".overlay") == overlay && ($0 as NSString).lastPathComponent.count >= 32
        }
        return names.map { "\(blobs)/\($0)" }
    }

    private func change(overlay: Bool = false, _ body: (inout Data) -> Void) throws {
        let url = URL(filePath: try #require(try paths(overlay: overlay).first))
        var bytes = try Data(contentsOf: url)
        body(&bytes)
        try bytes.write(to: url)
    }

    private func doctor(_ arguments: String..., status: Int32, _ texts: String...) throws {
        let result = try daemon.coffer(["doctor"] + arguments)
        #expect(result.status == status, "\(arguments): \(result.text)\(result.errors)")
        #expect(result.errors == "")
        for text in texts { #expect(result.text.contains(text), "\(arguments): \(text): \(result.text)") }
    }

    private func json(_ arguments: String...) throws -> [[String: Any]] {
        try daemon.coffer(["doctor", "--json"] + arguments).text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    // MARK: What it finds

    @Test func `a flipped byte is found, and the file and the bytes are named`() throws {
        try doctor(status: 0, "contents of files (1)", "all is well")
        try change {
            $0[150_000] ^= 1
            $0[299_000] ^= 1
        }
        try doctor(
            status: 65,
            """
            file 'notes/a': parts of its content are damaged or missing; save what can be read by coffer doctor --salvage \
            'notes/a' --output FILE, then store it again, or remove it
                bytes 131072 to 196607 can't be read
                bytes 262144 to 299999 can't be read

            """,
            "found 1 file with damaged contents"
        )
        let lines = try json()
        try #require(lines.count == 2)
        #expect(lines[0]["stage"] as? String == "contents" && lines[0]["damage"] as? String == "content")
        #expect(lines[0]["name"] as? String == "'notes/a'" && lines[0]["damagedBytes"] as? Int == 103_392)
        let ranges = try #require(lines[0]["damaged"] as? [[String: Int]])
        #expect(ranges == [["offset": 131_072, "bytes": 65_536], ["offset": 262_144, "bytes": 37_856]])
        #expect(lines[1]["damaged"] as? Int == 1 && lines[1]["quick"] as? Bool == false)
        #expect((lines[1]["checked"] as? [String: Int])?["contents"] == 1)
        #expect(lines[1]["contentBytes"] as? Int == 300_000)
    }

    @Test func `a quick check leaves contents out, and says so`() throws {
        try change { $0[150_000] ^= 1 }
        try doctor(
            "--quick",
            status: 0,
            "the contents of files were not checked: 'coffer doctor' without --quick",
            "all that was checked is well"
        )
        let summary = try #require(try json("--quick").last)
        #expect(summary["quick"] as? Bool == true)
        #expect((summary["checked"] as? [String: Int])?["contents"] == nil)
        try expectRefused("--quick", "--restore")
    }

    private func expectRefused(_ arguments: String...) throws {
        #expect(try daemon.coffer(["doctor"] + arguments).status == 64)
    }

    @Test func `what is locked is counted and said, and checked once it is unlocked`() throws {
        let client = try daemon.connect()
        try client.put("health/a", pseudoRandomBytes(5000)) { $0.protectionClass = .complete }
        try client.put("cache/a", pseudoRandomBytes(5000)) { $0.protectionClass = ProtectionClass.none }
        _ = try client.lock(graceSeconds: 0)
        try doctor(
            status: 0,
            "contents of files (2)",
            "not checked: the contents of 1 file, which is locked; 'coffer unlock', and repeat it",
            "all that was checked is well"
        )
        #expect(try json().last?["sealedContents"] as? Int == 1)
        try client.unlock()
        try doctor(status: 0, "contents of files (3)", "all is well")
    }

    /// Ways to damage the only content.
    enum Harm: String, CaseIterable {
        case missing, cut, header, longer, chunk, overlayMissing, overlayHeader, slot, row
    }

    @Test(arguments: Harm.allCases) func `whatever get refuses is found`(harm: Harm) throws {
        let client = try daemon.connect()
        let file = try client.openFile(try ItemName("notes/a"), for: .write)
        try file.put([1, 2, 3], at: 70_000)
        try file.close()
        switch harm {
        case .missing: try whileStopped { try paths().forEach(FileManager.default.removeItem) }
        case .cut: try change { $0.removeLast(100) }
        case .header: try change { $0[20] ^= 1 }
        case .longer: try change { $0.append(0) }
        case .chunk: try change { $0[40] ^= 1 }
        case .overlayMissing:
            try whileStopped { try paths(overlay: true).forEach(FileManager.default.removeItem) }
        case .overlayHeader: try change(overlay: true) { $0[20] ^= 1 }
        case .slot: try change(overlay: true) { $0[500] ^= 1 }
        case .row:
            try whileStopped {
                try Connection(path: "\(daemon.statePath)/vault.sqlite").execute("DELETE FROM file_chunks")
            }
        }
        #expect(try daemon.coffer(["get", "notes/a", "--output", "copy"]).status == 65)
        let isWhole = [.header, .longer, .overlayMissing, .overlayHeader, .row].contains(harm)
        try doctor(
            status: 65,
            "file 'notes/a': "
                + (isWhole ? "its content as a whole is not as it was written" : "parts of its content are damaged")
        )
    }

    /// The daemon may still have a content open whose name is gone.
    private func whileStopped(_ body: () throws -> Void) throws {
        daemon.stop()
        try body()
        try daemon.restart()
        try daemon.connect().unlock()
    }

    @Test func `an empty file is checked as well`() throws {
        #expect(try daemon.coffer(["remove", "notes/a", "--now"]).status == 0)
        let put = try daemon.coffer(["put", "empty", "--kind", "document", "--allow-empty"])
        #expect(put.status == 0)
        try doctor(status: 0, "contents of files (1)", "all is well")
        try change { $0[40] ^= 1 }
        #expect(try daemon.coffer(["get", "empty"]).status == 65)
        try doctor(status: 65, "file 'empty': parts of its content are damaged")
    }

    @Test func `a list of damaged parts is bounded, and the others are counted`() throws {
        let count = Limits.rangesPerFinding + 6
        let chunk = Limits.chunkBytes
        try daemon.connect().put("notes/a", [UInt8](repeating: 7, count: (2 * count - 1) * chunk)) {
            $0.kind = .document
        }
        try change { bytes in for part in 0..<count { bytes[2 * part * (chunk + 16) + 100] ^= 1 } }
        try doctor(status: 65, "bytes 0 to 65535 can't be read", "    and \(6 * chunk) bytes more, in other parts")
    }

    // MARK: While others work

    @Test func `many files are checked, those of other groups and open ones too`() throws {
        let client = try daemon.connect()
        for number in 0..<150 { try client.put("many/\(number)", pseudoRandomBytes(3000, seed: UInt64(number))) }
        let file = try client.openFile(try ItemName("many/7"), for: .write)
        try file.put([9], at: 10)
        try doctor(status: 0, "contents of files (151)", "all is well")
        // What was written in the meantime is still there.
        try file.close()
        #expect(try client.get("many/7")[10] == 9)
    }

    @Test func `the daemon serves others during a check`() throws {
        let client = try daemon.connect()
        try client.put("big", [UInt8](repeating: 7, count: 200_000_000)) { $0.kind = .document }
        try client.put("notes/a", [7]) { $0.kind = .document }
        var overtakes = 0
        for _ in 0..<5 where overtakes == 0 {
            let checker = try daemon.connect()
            let isDone = Shared(false)
            let check = Background {
                defer { isDone.value = true }
                return try checker.call(VaultCheckParameters(cursor: "contents:0")).value
            }
            while !isDone.value {
                _ = try client.get("notes/a")
                if !isDone.value { overtakes += 1 }
            }
            #expect(try check.wait().checkedCount > 0)
        }
        #expect(overtakes > 0)
    }

    @Test func `a terminal shows how far it has come, and at which rate`() throws {
        let put = try onTerminal(daemon, "head -c 200000000 /dev/zero | coffer put big --kind document 2>/dev/null")
        #expect(put.status == 0)
        let number = daemon.processID
        var shown = ""
        // The daemon gets a part of the time only, so that it lasts: a smaller one each time, until it does.
        for seconds in [0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.005, 0.005] where !shown.contains(" of 191 MiB, ") {
            let slow = "while kill -STOP \(number); do sleep 0.2; kill -CONT \(number); sleep \(seconds); done"
            let check = try onTerminal(daemon, "(\(slow)) & coffer doctor; code=$?; kill $!; exit $code")
            kill(daemon.processID, SIGCONT)
            #expect(check.status == 0)
            shown = check.shown
        }
        #expect(shown.contains(" of 191 MiB, "), "\(shown)")
        #expect(shown.contains("iB/s"), "\(shown)")
    }
}
