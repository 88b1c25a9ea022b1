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

    @Test(arguments: [
        (["empty", "a", "--entry", "1"], "NAME and --entry can't be combined"),
        (["receive", "--recipient", "a"], "--recipient and FILE can't be combined"),
        (["receive", "--recipient", "--as", "b"], "--recipient and --as can't be combined"),
        (["receive", "--as", "b"], "--as needs FILE"),
    ])
    func `options that exclude or need each other are named in the refusal`(words: [String], text: String) throws {
        let verb = words[0] == "receive" ? SafetyVerbs.all[1] : SafetyVerbs.all[2]
        let arguments = words[0] == "receive" ? Array(words.dropFirst()) : words
        let error = try #require(throws: (any Error).self) { try verb.parseAsRoot(arguments) }
        #expect(verb.message(for: error) == text)
        #expect(verb.exitCode(for: error).rawValue == 64)
    }
}
