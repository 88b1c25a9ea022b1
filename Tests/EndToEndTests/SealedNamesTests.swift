import CofferCore
import CofferTestSupport
import Testing

/// Section 2 of the semantics: names are under the passcode.
@Suite struct SealedNamesTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    @discardableResult
    private func coffer(_ line: String, _ input: String = "", status: Int32 = 0) throws -> CommandResult {
        let words = line.split(separator: " ").map(String.init)
        let result = try daemon.coffer(words, input: Array(input.utf8))
        #expect(result.status == status, "\(line): \(result.text)\(result.errors)")
        return result
    }

    private func lines(_ command: String) throws -> [String] {
        try coffer(command).text.split(separator: "\n").map(String.init)
    }

    private func store() throws {
        try coffer("put health/weight", "80")
        try coffer("put token --accessible AfterFirstUnlock", "t")
        try coffer("put wifi --accessible Always", "w")
        try coffer("put inbox/mail --accessible WhenUnlockedDeposit", "first")
        try coffer("keychain add --class internet-password --server example.org --account anna --label site", "l")
        try coffer("file create health/report --class complete", "r")
        try coffer("file create boot/splash --class none", "s")
        try coffer("file mkdir drop --class completeUnlessOpen")
    }

    @Test func `before the first unlock, there are no names but those of Always and none`() throws {
        try store()
        try daemon.restart()
        #expect(try lines("list") == ["boot/splash", "wifi"])
        let listed = try coffer("list")
        #expect(listed.errors.contains("warning: 5 more items are hidden: 'coffer unlock' shows them"))
        #expect(try lines("file list --recursive") == ["boot/", "boot/splash"])
        let found = try coffer("keychain find --class generic-password --all")
        #expect(found.text.contains("wifi") && !found.text.contains("health"))
        #expect(found.errors.contains("3 more items are hidden"))
        let status = try coffer("status").text
        #expect(status.contains("5 names are hidden until you unlock"), "\(status)")
        #expect(try coffer("get wifi").text == "w")
        #expect(try coffer("get boot/splash").text == "s")
        let explained = try coffer("explain health/weight").text
        #expect(explained.contains("is there, and can be described after 'coffer unlock' only"), "\(explained)")
        #expect(explained.contains("get is locked, put is locked, remove is locked"))
        // Locked is not missing, whatever is asked by name.
        for line in [
            "get health/weight", "show health/weight", "get health/report", "file stat health/report", "remove token",
            "move token other", "keychain find --class internet-password --server example.org", "get inbox/mail",
            "file list health", "keychain history --service health --account weight",
            "keychain delete --service health --account weight",
        ] {
            let refused = try coffer(line, status: 75)
            #expect(refused.errors.contains("sealed until you unlock"), "\(refused.errors)")
        }
        for line in ["get health/nothing", "show nothing", "file stat health/nothing"] {
            try coffer(line, status: 66)
        }
        try daemon.connect().unlock()
        let all = [
            "boot/splash", "health/report", "health/weight", "inbox/mail", "login:anna@example.org", "token", "wifi",
        ]
        #expect(try lines("list") == all)
        #expect(try coffer("list").errors.isEmpty)
        #expect(try !coffer("status").text.contains("no name"))
        // Locked after the first unlock, names stay.
        try coffer("lock --now")
        #expect(try lines("list") == all)
    }

    @Test func `what is dropped before the first unlock is there after it, with what it had before`() throws {
        try store()
        try coffer("keychain update --service inbox --account mail --set comment=daily")
        try coffer("put recording --protection completeUnlessOpen", String(repeating: "b", count: 5000))
        let created = try #require(try lines("show inbox/mail").first { $0.hasPrefix("created:") })
        try daemon.restart()
        try coffer("put inbox/mail", "second")
        try coffer("put inbox/new --accessible WhenUnlockedDeposit", "n")
        let kept = try coffer("put recording", "small").text
        #expect(
            kept.contains("stored 'recording' as a file; it can be read while unlocked, written at any time"),
            "\(kept)"
        )
        try coffer("put inbox/mail", String(repeating: "m", count: 40_000), status: 75)
        try coffer("file mkdir drop --parents")
        try coffer("put drop/note", "by the directory's class")
        try coffer("put drop/note", "again")
        try coffer("get inbox/mail", status: 75)
        try coffer("show inbox/new", status: 75)
        try coffer("get drop/note", status: 75)
        #expect(try lines("list") == ["boot/splash", "wifi"])
        try daemon.restart()
        try coffer("put inbox/mail", "third")
        try daemon.connect().unlock()
        #expect(try coffer("get inbox/mail").text == "third")
        #expect(try coffer("get inbox/new").text == "n")
        #expect(try coffer("get drop/note").text == "again")
        #expect(try coffer("get recording").text == "small")
        #expect(try coffer("explain recording").text.contains("an item keeps its store"))
        #expect(try lines("show drop/note").contains { $0.contains("written at any time") })
        #expect(try lines("show inbox/mail").contains(created))
        let shown = try coffer("keychain find --service inbox --account mail --attributes").text
        #expect(shown.contains("daily"), "\(shown)")
        let history = try lines("keychain history --service inbox --account mail")
        #expect(history.count == 2, "\(history)")
        let check = try coffer("doctor")
        #expect(check.text.contains("all is well"), "\(check.text)")
    }
}
