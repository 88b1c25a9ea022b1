import CofferCore
import CofferRouting
import CofferService
import CofferTestSupport
import CofferVault
import Foundation
import Testing

/// `cofferd.conf`: unknown settings are errors, and every error names its line.
@Suite struct ConfigurationFileTests {
    private func policy(_ text: String) throws -> RoutingPolicy {
        try RoutingPolicy(try ConfigurationFile(text, path: "cofferd.conf"))
    }

    private let anna = ClientIdentity(
        userID: 1000,
        groupID: 100,
        unit: "backup.service",
        executablePath: "/usr/bin/mail"
    )

    @Test func `bounds and defaults are read, with comments and white space between`() throws {
        let policy = try policy(
            """
            # The machine's own.
            [Routing]
              SmallBytes = 512\r
            ; less than it was
            StructuredBytes=2048

            [Default]
            Name=health/**
            Class=complete
            [Default]
            Name=health/steps
            Class=none
            [Default]
            Client=unit:backup.service
            Accessible=AfterFirstUnlock
            """
        )
        #expect(policy.bounds.smallBytes == 512)
        #expect(policy.bounds.fileBytes == 1024)
        #expect(policy.bounds.structuredBytes == 2048)
        let other = ClientIdentity(userID: 1001, groupID: 100)
        #expect(policy.protection(of: try ItemName("health/steps"), from: other) == .file(.complete))
        #expect(policy.protection(of: try ItemName("work"), from: other) == nil)
        #expect(policy.protection(of: try ItemName("work"), from: anna) == .keychain(.afterFirstUnlock))
        #expect(policy.protection(of: nil, from: anna) == .keychain(.afterFirstUnlock))
    }

    @Test func `a mark that combines hides neither a bracket nor an equals sign`() throws {
        let file = try ConfigurationFile("[A]\nkey=\u{5a4}x\n \u{301}=y\n[\u{301}b\u{301}]\n", path: "f")
        #expect(file.sections.map(\.name) == ["A", "\u{301}b\u{301}"])
        #expect(file.sections[0].entries.map(\.key) == ["key", "\u{301}"])
        #expect(file.sections[0].entries.map(\.value) == ["\u{5a4}x", "y"])
    }

    @Test func `an empty file sets nothing`() throws { #expect(try policy("\n# nothing\n") == .standard) }

    @Test(
        arguments: [
            ("uid:1000", true), ("uid:1001", false), ("gid:100", true), ("gid:1000", false),
            ("unit:backup.service", true),
            ("unit:backup", false), ("user-unit:backup.service", false), ("exe:/usr/bin/mail", true),
            ("exe:/usr/bin/mai", false),
        ] as [(String, Bool)]
    )
    func `a client is told by all that is known of it`(text: String, fits: Bool) throws {
        let pattern = try ClientPattern(text)
        #expect(pattern.fits(anna) == fits)
        #expect(pattern.description == text)
    }

    @Test(arguments: ["", "uid", "uid:", "uid:-1", "uid:4294967296", "unit:", "exe:mail", "1000", "Uid:1"])
    func `what is no client is refused`(text: String) {
        #expect(throws: CofferError(.param, "")) { _ = try ClientPattern(text) }
    }

    @Test(
        arguments: [
            ("SmallBytes=1\n", 1, "before the first section"), ("[Routing\n", 1, "a section is"),
            ("[]\n", 1, "a section is"), ("[Routing]\nSmallBytes\n", 2, "a setting is"),
            ("[Routing]\n\n=1\n", 3, "a setting is"), ("[Routing]\nSmall=1\n", 2, "there is no setting 'Small'"),
            ("[Routing]\nSmallBytes=-1\n", 2, "from 0 to 32768"), ("[Routing]\nSmallBytes=1k\n", 2, "from 0 to 32768"),
            ("[Routing]\nFileBytes=32769\n", 2, "from 0 to 32768"),
            ("[Routing]\nStructuredBytes=4097\n", 2, "from 0 to 4096"),
            ("[Default]\nName=a\n", 1, "Class or Accessible"),
            ("#\n[Default]\nClass=complete\nAccessible=Always\n", 4, "two ways"),
            ("[Default]\nClass=complete\nClass=none\n", 3, "twice"),
            ("[Default]\nClass=secret\n", 2, "there is no 'secret'"),
            ("[Default]\nClass=none\nName=\n", 3, "a pattern of names"),
            ("[Default]\nClient=root\n", 2, "unknown client"),
        ] as [(String, Int, String)]
    )
    func `what is wrong is told with its line and its reason`(text: String, line: Int, reason: String) throws {
        let error = try #require(throws: CofferError.self) { _ = try policy(text) }
        #expect(error.code == .param)
        #expect(error.message.hasPrefix("'cofferd.conf', line \(line): "), "\(error.message)")
        #expect(error.message.contains(reason), "\(error.message)")
    }

    @Test func `a file that is none, or not text, is told apart`() throws {
        let directory = try TemporaryDirectory()
        let missing = try ConfigurationFile.read(at: directory.appending("missing"))
        #expect(missing == nil)
        for bytes in [[0xFF, 0xFE], [UInt8](repeating: 0x23, count: (1 << 20) + 1)] as [[UInt8]] {
            let path = try directory.write(bytes, to: "binary")
            #expect(throws: CofferError(.param, "")) { _ = try ConfigurationFile.read(at: path) }
        }
        #expect(throws: CofferError.self) { _ = try ConfigurationFile.read(at: directory.path) }
        let path = try directory.write(Array("[Routing]\n".utf8), to: "good")
        let found = try #require(try ConfigurationFile.read(at: path))
        #expect(found.sections.map(\.name) == ["Routing"])
    }
}
