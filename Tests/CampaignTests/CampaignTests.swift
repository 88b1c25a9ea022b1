import CofferTestSupport
import Foundation
import Testing

/// A few cases of each campaign, with a fixed seed; `packaging/tools/campaign` runs more of them.
@Suite struct CampaignTests {
    @Test func `a call that fails is told by its code, and neither loses anything nor does half of it`() throws {
        try run("calls", 10)
    }

    @Test func `power that goes at any instant loses nothing that was answered`() throws { try run("power", 16) }

    @Test(arguments: 1...4)
    func `sequences of operations by chance of three clients are answered as their model allows`(seed: Int) throws {
        try run("sequences", 50, seed: seed)
    }

    @Test func `packaging/tools/fuzz sequences plays for so long, from a seed on`() throws {
        let result = try script("tools/fuzz", ["sequences", "0", "23"])
        #expect(result.status == 0, "\(result.errors)\n\(result.text)")
        #expect(result.text.hasPrefix("seed 23\n") && result.text.contains("\nsequences: tried 5, bad 0"))
    }

    @Test func `a kill at a random instant loses nothing that was acknowledged and leaves nothing half done`() throws {
        try run("kills", 12)
    }

    @Test(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
    func `a program in a mount loses nothing that it has synced, whatever is killed or fails`() throws {
        try run("mounted", 16)
    }

    @Test func `backups go on after a kill of the program, the daemon or both`() throws { try run("backups", 10) }

    @Test func `a changed byte of any file is named or harmless`() throws { try run("flips", 20) }

    @Test func `no call of any method in any state ends the daemon, holds it up, or is an internal error`() throws {
        try run("methods", 18)
    }

    @Test func `packaging/tools/fuzz methods plays for so long, from a seed on`() throws {
        let result = try script("tools/fuzz", ["methods", "0", "23"])
        #expect(result.status == 0, "\(result.errors)\n\(result.text)")
        #expect(result.text.hasPrefix("seed 23\n") && result.text.contains("\nmethods: tried 9, bad 0"))
    }

    @Test func `an impossible value in any column is answered or named`() throws { try run("rows", 20) }

    @Test(arguments: [[], ["nonsense"], ["kills", "many"]])
    func `packaging/tools/campaign refuses what it does not know`(arguments: [String]) throws {
        #expect(try campaign(arguments).status == 64)
    }

    @Test func `packaging/tools/campaign names every campaign in its help`() throws {
        let help = try campaign(["--help"])
        #expect(help.status == 0)
        let listed = help.text.matches(of: /\n  ([a-z]+)\s/).map { String($0.1) }
        let refused = try campaign(["nonsense"]).errors
        #expect(!listed.isEmpty)
        #expect(refused.hasSuffix(", of \(listed.joined(separator: ", "))\n"), "\(refused)")
    }

    private func run(_ name: String, _ count: Int, seed: Int = 17) throws {
        let result = try campaign([name, "\(count)", "\(seed)"])
        #expect(result.status == 0, "\(result.errors)\n\(result.text)")
        #expect(result.text.hasPrefix("seed \(seed)\n"))
        #expect(result.text.contains("\n\(name): tried \(count), bad 0"), "\(result.text)")
    }

    private func campaign(_ arguments: [String]) throws -> CommandResult { try script("tools/campaign", arguments) }

    private func script(_ name: String, _ arguments: [String]) throws -> CommandResult {
        try runCommand(
            "\(Project.root)/packaging/\(name)",
            arguments,
            environment: ["COFFER_BIN": Project.builtWithTests, "TMPDIR": "/tmp", "HOME": "/nonexistent"]
        )
    }
}
