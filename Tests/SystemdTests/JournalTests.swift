import CofferTestSupport
import CofferWire
import Testing

extension SystemdTests {
    /// What is recorded, as the journal has it.
    @Suite struct JournalTests {
        @Test func `the journal has who did what, field by field, and no value`() throws {
            let service = try Service("coffer-journal")
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
    }
}
