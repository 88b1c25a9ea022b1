import ArgumentParser
import CofferVaultCommands
import CofferClient
import Testing

/// What `allow` and `deny` read from the command line.
@Suite struct RuleArgumentsTests {
    private func pattern(_ kind: String, _ client: String) throws -> ClientPattern {
        try RuleArguments.parse([kind, client, "read", "--item", "a"]).clientPattern()
    }

    @Test func `a unit is a service unless its name says otherwise`() throws {
        #expect(try pattern("unit", "backup") == .unit("backup.service"))
        #expect(try pattern("unit", "backup@*.timer") == .unit("backup@*.timer"))
        #expect(try pattern("user-unit", "mail") == .userUnit("mail.service"))
    }

    @Test func `a user and a group are named, or numbered where they have no name`() throws {
        #expect(try pattern("user", "root") == .user(0))
        #expect(try pattern("user", "3999999999") == .user(3_999_999_999))
        #expect(try pattern("group", "root") == .group(0))
        for kind in ["user", "group"] {
            let error = #expect(throws: CofferError.self) { try pattern(kind, "no such name") }
            #expect(error?.code == .param)
        }
        // The number that no user has.
        #expect(throws: CofferError.self) { try pattern("user", "4294967295") }
    }

    @Test func `a program is an absolute path, without its symbolic links`() throws {
        #expect(try pattern("program", "/proc/self/../self/../../usr") == .executable("/usr"))
        #expect(try pattern("program", "/no such program") == .executable("/no such program"))
        let error = #expect(throws: CofferError.self) { try pattern("program", "mail") }
        #expect(error?.code == .param)
    }

    @Test func `a verb that is named twice counts once, and verbs are listed in their order`() throws {
        let arguments = try RuleArguments.parse(["user", "0", "delete", "read", "delete", "--item", "a"])
        #expect(arguments.verbSet == [.read, .delete])
        #expect(arguments.verbSet.words == "read, delete")
        #expect(throws: (any Error).self) { try RuleArguments.parse(["user", "0", "admin", "--item", "a"]) }
    }
}
