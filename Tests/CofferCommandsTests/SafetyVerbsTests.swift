import ArgumentParser
import CofferCommands
import Testing

/// The verbs of the room.
@Suite struct SafetyVerbsTests {
    @Test func `they are listed in the order of the help`() {
        #expect(SafetyVerbs.all.map { $0.configuration.commandName ?? "" } == ["send", "receive", "trash"])
    }

    @Test(arguments: [
        ["restore"], ["restore", "a", "--entry", "1"], ["restore", "a", "b", "--as", "c"],
        ["empty", "a", "--entry", "1"],
    ])
    func `what does not go together is refused`(words: [String]) throws {
        let trash = try #require(SafetyVerbs.all.last)
        #expect(throws: (any Error).self) { try trash.parseAsRoot(words) }
    }
}
