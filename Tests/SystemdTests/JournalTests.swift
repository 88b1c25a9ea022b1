import CofferTestSupport
import CofferWire
import Testing

extension SystemdTests {
    /// What is recorded, as the journal has it.
    @Suite struct JournalTests {
        @Test func `the journal has who did what, field by field, and no value`() throws {
            let service = try Service("coffer-journal", options: ["--journal-names"])
            try service.makeVault()
            try service.put("journal/token", "a-value-that-nobody-logs", "AfterFirstUnlock")
            let machine = try #require(Machine.shared)
            #expect(try service.coffer("get", "journal/token", in: "reader.service").status == 66)
            let unit = "_SYSTEMD_UNIT=\(service.name).service"
            // Reads are recorded a moment later.
            let found = try machine.journal(
                ["--output=json", unit, "COFFER_ITEM=journal/token", "COFFER_RESULT=itemNotFound"],
                until: { !$0.isEmpty }
            )
            let line = try #require(found.split(separator: "\n").first)
            let refused = try #require(try JSONValue(parsing: Array(line.utf8).span.bytes).objectValue)
            #expect(refused["COFFER_UNIT"] == "reader.service" && refused["COFFER_CLIENT"] == "unit:reader.service")
            #expect(refused["COFFER_ACTION"] == "item.get" && refused["COFFER_GROUP"] == "unit:reader.service")
            #expect(refused["COFFER_STATE"] == "unlocked" && refused["PRIORITY"] == "5")
            #expect(refused["MESSAGE_ID"] == "d1b07f2a6c9e4a3db7a8f4e1965c0b52")
            #expect(refused["MESSAGE"]?.stringValue?.contains("'journal/token': refused") == true, "\(refused)")
            #expect(refused["COFFER_RECORD"] != nil)
            let put = try machine.journal([unit, "COFFER_ACTION=item.put"]) { $0.contains("'journal/token'") }
            #expect(put.contains("item.put 'journal/token'"))
            let all = try machine.succeed(["journalctl", "--output=export", unit])
            #expect(!all.contains("a-value-that-nobody-logs"))
        }

        @Test func `each record of a burst gets there once`() throws {
            let service = try Service("coffer-burst", options: ["--journal-names"])
            let machine = try #require(Machine.shared)
            try service.makeVault()
            let put = "printf x | \(Machine.programs)/coffer put burst/$number --accessible AfterFirstUnlock &"
            let result = try service.run(["sh", "-c", "for number in $(seq 40); do \(put) done; wait"])
            #expect(result.status == 0, "\(result.errors)")
            let told = try machine.journal(["_SYSTEMD_UNIT=\(service.name).service", "COFFER_ACTION=item.put"]) {
                $0.split(separator: "\n").count >= 40
            }
            let names = told.split(separator: "\n").compactMap { $0.split(separator: " ").last.map(String.init) }
            #expect(names.sorted() == (1...40).map { "'burst/\($0)'" }.sorted())
        }

        @Test func `without --journal-names, the journal has a tag for each item, and nothing has a name`() throws {
            let service = try Service("coffer-nameless", options: ["--journal-reads"])
            let machine = try #require(Machine.shared)
            try service.makeVault()
            try service.put("nobody-reads-this/token", "x", "AfterFirstUnlock")
            _ = try service.coffer("keychain", "find", "--service", "nobody-reads-this")
            _ = try service.coffer("lock", "--now")
            _ = try service.coffer("put", "nobody-reads-this/letter", "--protection", "complete", input: "x")
            for unit in ["reader.service", "other.service"] {
                #expect(try service.coffer("get", "nobody-reads-this/token", in: unit).status == 66)
            }
            try service.control("restart", "\(service.name).service")
            _ = try service.coffer("get", "nobody-reads-this/token")
            _ = try service.coffer("get", "nobody-reads-this/missing")
            let unit = "_SYSTEMD_UNIT=\(service.name).service"
            func records(_ fields: String..., count: Int) throws -> [JSONObject] {
                let found = try machine.journal(["--output=json", unit] + fields) {
                    $0.split(separator: "\n").count >= count
                }
                return try found.split(separator: "\n").map { line in
                    try #require(try JSONValue(parsing: Array(line.utf8).span.bytes).objectValue)
                }
            }
            _ = try records("COFFER_ACTION=item.get", "COFFER_STATE=beforeFirstUnlock", count: 2)
            let put = try #require(try records("COFFER_ACTION=item.put", "COFFER_RESULT=done", count: 1).first)
            let tag = try #require(put["COFFER_ITEM"]?.stringValue)
            #expect(tag.wholeMatch(of: #/[0-9a-f]{16}/#) != nil)
            #expect(put["MESSAGE"]?.stringValue?.hasSuffix("item.put '\(tag)'") == true, "\(put)")
            // All that concerns one item can be found by its tag.
            #expect(try records("COFFER_ITEM=\(tag)", count: 2).count >= 2)
            let refused = try #require(
                try records("COFFER_RESULT=itemNotFound", "COFFER_UNIT=other.service", count: 1).first
            )
            let name = try #require(refused["COFFER_ITEM"]?.stringValue)
            #expect(refused["MESSAGE"]?.stringValue?.hasSuffix("item.get '\(name)': refused: itemNotFound") == true)
            #expect(name != tag, "it is another group")
            let all = try machine.succeed(["journalctl", "--output=export", "--all", unit])
            #expect(all.contains("COFFER_ITEM=\(tag)") && !all.contains("nobody-reads-this"))
        }
    }
}
