import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// Items that are stored for services.
///
/// PackageTests has a real service load one.
@Suite struct ServicePutTests {
    private func vault(passcode: Bool) throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        if passcode {
            try daemon.connect().makeVault()
        } else {
            #expect(try daemon.coffer(["init", "--no-passcode", "--no-recovery-key"]).status == 0)
        }
        return daemon
    }

    private func put(_ daemon: DaemonProcess, _ arguments: [String]) throws -> CommandResult {
        try daemon.coffer(["put", "a/token"] + arguments, input: Array("s3cret".utf8))
    }

    @Test(
        arguments: [
            (
                ["--for", "backup"], "unit:backup.service",
                "LoadCredential=a--token:/run/coffer/credentials.sock in backup.service"
            ),
            (["--for", "a@b.service"], "unit:a@b.service", "in a@b.service gives it"),
            (
                ["--for", "mail", "--user"], "user-unit:mail.service",
                "LoadCredential=a--token:%t/coffer/credentials.sock"
            ),
        ]
    )
    func `an item is in the group of the service, and the line for its unit is said`(
        options: [String],
        group: String,
        line: String
    ) throws {
        let daemon = try vault(passcode: false)
        let stored = try put(daemon, options)
        #expect(stored.status == 0 && stored.text.contains(line), "\(stored.text)\(stored.errors)")
        // A machine with systemd has no such unit.
        let warnings = stored.errors.split(separator: "\n").filter { !$0.contains("there is no unit") }
        #expect(warnings.isEmpty, "\(warnings)")
        let shown = try daemon.coffer(["show", "a/token", "--group", group, "--json"]).text
        #expect(shown.contains(#""accessible":"AfterFirstUnlock""#), "\(shown)")
        #expect(try daemon.coffer(["get", "a/token"]).status == 66)
        #expect(try put(daemon, options + ["--json"]).text.split(separator: "\n").count == 1)
    }

    @Test(
        arguments: [
            ([], "gets 'a/token' only after 'coffer unlock': once after each start of the machine"),
            (["--accessible", "WhenUnlocked"], "gets 'a/token' only while the vault is unlocked"),
            (["--accessible", "Always"], nil),
            (["--protection", "complete", "--store", "file"], "only while the vault"),
            (["--store", "file"], "only after 'coffer unlock'"),
        ] as [([String], String?)]
    )
    func `what a service does not get after a start of the machine is warned of`(
        options: [String],
        warning: String?
    ) throws {
        let stored = try put(try vault(passcode: true), ["--for", "backup"] + options)
        #expect(stored.status == 0, "\(stored.errors)")
        if let warning {
            #expect(stored.errors.contains(warning), "\(stored.errors)")
        } else {
            #expect(!stored.errors.contains("gets"), "\(stored.errors)")
        }
    }

    @Test(
        arguments: [
            ["--for", "backup.timer"], ["--for", "a/b"], ["--for", "backup", "--group", "g"], ["--user"],
            ["--for", "web@"], ["--for", "web@.service"], ["--for", "runner-*"], ["--for", "web@?.service", "--user"],
            ["--for", "[ab].service"],
        ]
    )
    func `what is no single service is 64, and nothing is stored`(options: [String]) throws {
        let daemon = try vault(passcode: true)
        #expect(try put(daemon, options).status == 64)
        #expect(try daemon.coffer(["list", "--all-groups"]).text.isEmpty)
    }

    @Test(arguments: [("web@", "'web@*.service'"), ("runner-*", "'runner-*.service'")])
    func `a template and a pattern are refused with what reaches all of them`(unit: String, pattern: String) throws {
        let refused = try put(try vault(passcode: false), ["--for", unit])
        #expect(refused.errors.contains("coffer allow unit \(pattern) read --item NAME"), "\(refused.errors)")
    }

    // MARK: What systemd can't load

    private static let group = "unit:web.service"
    private static let longest = String(repeating: "n", count: 72)

    private func warns(_ daemon: DaemonProcess, _ arguments: [String], _ content: [UInt8] = [1]) throws -> Bool {
        let done = try daemon.coffer(arguments, input: content)
        #expect(done.status == 0, "\(arguments): \(done.errors)")
        #expect(!(done.text.contains("LoadCredential=") && done.errors.contains("can't load")))
        return done.errors.contains("web.service can't load '")
    }

    @Test func `a name that the address of a unit has no place for is said wherever it is given`() throws {
        let daemon = try vault(passcode: false)
        let (fits, beyond) = (Self.longest, Self.longest + "n")
        let own = ["--group", Self.group]
        for (arguments, isWarning) in [
            (["put", fits, "--for", "web"], false), (["put", beyond, "--for", "web"], true),
            (["put", fits] + own, false), (["put", beyond] + own, true), (["put", "a--b", "--for", "web"], true),
            (["put", "short"] + own, false), (["put", "short"], false), (["put", beyond], false),
            (["move", "short", "shorter"] + own, false), (["move", "shorter", beyond, "--replace"] + own, true),
            (["duplicate", fits, beyond + "2"] + own, true), (["duplicate", beyond, "ok"] + own, false),
            (["allow", "unit", "web", "read", "--item", beyond], true),
            (["allow", "unit", "web", "read", "--item", "short"], false),
            (["allow", "unit", "web*", "read", "--item", beyond], false),
            (["allow", "unit", "web", "read", "--item", "**"], false),
            (["grant", beyond, "--to", "unit:web.service", "--for", "1m"], true),
            (["grant", "short", "--to", "unit:web.service", "--for", "1m"], false),
        ] {
            #expect(try warns(daemon, arguments) == isWarning, "\(arguments)")
        }
    }

    @Test func `a content that systemd does not take is said when it is stored and when it grows`() throws {
        let daemon = try vault(passcode: false)
        let most = (1 << 20) - 1
        let own = ["--group", Self.group]
        for (arguments, count, isWarning) in [
            (["put", "f", "--for", "web", "--store", "file"], most, false),
            (["put", "f", "--for", "web", "--store", "file"], most + 1, true),
            (["put", "f", "--for", "web", "--store", "file"], 1, false),
            (["file", "write", "f", "--offset", "\(most - 1)"] + own, 1, false),
            (["file", "append", "f"] + own, 1, true), (["file", "truncate", "f", "\(most)"] + own, 0, false),
            (["file", "truncate", "f", "\(most + 1)"] + own, 0, true),
            (["file", "write", "f", "--truncate"] + own, 1, false), (["file", "create", "g"] + own, most + 1, true),
            (["move", "g", "h"] + own, 0, true),
        ] as [([String], Int, Bool)] {
            let content = [UInt8](repeating: 1, count: count)
            #expect(try warns(daemon, arguments, content) == isWarning, "\(arguments) \(count)")
        }
    }
}
