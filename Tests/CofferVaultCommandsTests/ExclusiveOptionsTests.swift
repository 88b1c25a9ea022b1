import ArgumentParser
import CofferVaultCommands
import Testing

@Suite struct ExclusiveOptionsTests {
    @Test(arguments: [
        (
            "init --machine --no-recovery-key --recovery-key-file k",
            "--no-recovery-key and --recovery-key-file can't be combined"
        ),
        ("init --no-passcode --passcode-fd 3", "--no-passcode and --passcode-fd can't be combined"),
        (
            "init --machine --erase-data",
            "--machine and --erase-data can't be combined: only wrong passcodes erase a vault"
        ),
        (
            "init --from-backup b --recovery-key-file k",
            """
            --from-backup and --recovery-key-file can't be combined: a restored vault gets a passcode, and has its \
            recovery keys already
            """
        ),
        ("init --snapshot 1", "--snapshot needs --from-backup"),
        ("unlock --passcode-fd 3 --recovery-key-fd 4", "--passcode-fd and --recovery-key-fd can't be combined"),
        ("unlock --passcode-fd 3 --recovery-key", "--passcode-fd and --recovery-key can't be combined"),
        ("audit --verify --follow", "--verify and --follow can't be combined"),
        ("doctor --quick --restore", "--restore and --quick can't be combined"),
        ("doctor --yes", "--yes needs --discard or --acknowledge"),
    ])
    func `the refusal names the options that were given, and why where they don't show it`(
        line: String,
        text: String
    ) throws {
        let (verb, words) = try verb(of: line)
        let error = try #require(throws: (any Error).self) { try verb.parseAsRoot(words) }
        #expect(verb.message(for: error) == text)
        #expect(verb.exitCode(for: error).rawValue == 64)
    }

    @Test(arguments: [
        "init --machine --recovery-key-file k", "init --from-backup b --erase-data", "doctor --quick --repair",
    ])
    func `options of one set may be combined`(line: String) throws {
        let (verb, words) = try verb(of: line)
        _ = try verb.parseAsRoot(words)
    }

    private func verb(of line: String) throws -> (any ParsableCommand.Type, [String]) {
        let words = line.split(separator: " ").map(String.init)
        let verb = try #require(VaultVerbs.all.first { "\($0)".lowercased() == words[0] })
        return (verb, Array(words.dropFirst()))
    }
}
