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
        #expect(stored.errors.isEmpty)
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
        ]
    )
    func `what is no service is 64, and nothing is stored`(options: [String]) throws {
        let daemon = try vault(passcode: true)
        #expect(try put(daemon, options).status == 64)
        #expect(try daemon.coffer(["list", "--all-groups"]).text.isEmpty)
    }
}
