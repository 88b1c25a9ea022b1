import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The verbs below `coffer keychain`, as a person and a script use them.
@Suite struct KeychainVerbsTests {
    /// A daemon with an unlocked vault.
    private func vault(_ daemon: DaemonProcess? = nil) throws -> DaemonProcess {
        let daemon = try daemon ?? DaemonProcess()
        try daemon.directory.write(Array("pass code".utf8), to: "pass")
        try expect(daemon, "coffer init --kdf interactive --no-recovery-key --passcode-fd 3 3<pass >init.txt", "")
        return daemon
    }

    /// Runs a line of a shell in the daemon's directory, without a terminal.
    private func run(_ daemon: DaemonProcess, _ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-o", "pipefail", "-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    private func status(_ daemon: DaemonProcess, _ line: String) throws -> Int32 { try run(daemon, line).status }

    private func expect(_ daemon: DaemonProcess, _ line: String, _ text: String) throws {
        let result = try run(daemon, line)
        #expect(result.status == 0, "\(line): \(result.errors)")
        #expect(result.text == text, "\(line)")
    }

    /// Adds an item and gives its reference.
    private func add(_ daemon: DaemonProcess, _ line: String) throws -> String {
        let result = try run(daemon, line)
        #expect(result.status == 0, "\(line): \(result.errors)")
        let reference = result.text.trimmingCharacters(in: .newlines)
        #expect(ItemID(hexadecimal: reference) != nil)
        return reference
    }

    // MARK: Items

    @Test func `a secret is added, found, changed and deleted`() throws {
        let daemon = try vault()
        let reference = try add(daemon, "printf one | coffer keychain add --account anna --service mail")
        try expect(daemon, "coffer keychain find --account anna", "one")
        let again = try run(daemon, "printf two | coffer keychain add --account anna --service mail")
        #expect(again.status == 73)
        try expect(daemon, "printf two | coffer keychain update --service mail --secret", "updated 1\n")
        try expect(
            daemon,
            "coffer keychain update --service mail --set account=otto --set-attribute a=b",
            "updated 1\n"
        )
        try expect(daemon, "coffer keychain find --reference \(reference)", "two")
        let gone = try status(daemon, "coffer keychain find --account anna")
        #expect(gone == 66)
        try expect(daemon, "coffer keychain find --attribute a=b --output out && cat out", "two")
        try expect(daemon, "coffer keychain delete --account otto", "deleted 1\n")
        let after = try status(daemon, "coffer keychain find --reference \(reference)")
        #expect(after == 66)
    }

    @Test func `a generic password is the item of its name, and the other way round`() throws {
        let daemon = try vault()
        _ = try add(daemon, "printf one | coffer keychain add --account token --service github.com")
        try expect(daemon, "coffer get github.com/token", "one")
        try expect(daemon, "printf two | coffer put github.com/other >/dev/null", "")
        try expect(daemon, "coffer keychain find --service github.com --account other", "two")
    }

    @Test func `any bytes are a secret`() throws {
        let daemon = try vault()
        for (number, bytes) in [[], [0], [10, 0, 255, 13, 10], [UInt8](repeating: 7, count: 32_768)].enumerated() {
            try daemon.directory.write(bytes, to: "in")
            _ = try add(daemon, "coffer keychain add in --account \(number)")
            try expect(daemon, "coffer keychain find --account \(number) | cmp - in", "")
        }
        try daemon.directory.write([UInt8](repeating: 7, count: 32_769), to: "in")
        let refused = try run(daemon, "coffer keychain add in --account big")
        #expect(refused.status == 64)
        #expect(refused.errors.contains("32768"))
    }

    @Test func `a secret may be replaced by an empty one`() throws {
        let daemon = try vault()
        _ = try add(daemon, "printf one | coffer keychain add --account anna")
        try expect(daemon, "coffer keychain update --account anna --secret </dev/null", "updated 1\n")
        try expect(daemon, "coffer keychain find --account anna | wc -c", "0\n")
        try expect(daemon, "printf two | coffer keychain update --account anna --secret --set label=x", "updated 1\n")
        try expect(daemon, ": >none; coffer keychain update none --account anna --set label=y", "updated 1\n")
        try expect(daemon, "coffer keychain find --account anna | wc -c", "0\n")
    }

    @Test func `items are listed with their attributes, and never with a secret`() throws {
        let daemon = try vault()
        for number in 0..<5 {
            _ = try add(
                daemon,
                "printf s3cr3t | coffer keychain add --class internet-password --server s\(number).example "
                    + "--port 443 --label 'the label' --other isInvisible=true"
            )
        }
        let list = try run(daemon, "coffer keychain find --class internet-password --all --attributes")
        #expect(list.status == 0)
        #expect(list.text.matches(of: /(?m)^[0-9a-f]{32}  internet-password  the label  s\d\.example$/).count == 5)
        #expect(list.text.matches(of: /(?m)^  port: 443$/).count == 5)
        let json = try run(
            daemon,
            "coffer keychain find --class internet-password --prefix server=s --limit 3 --json --sort -creationDate"
        )
        #expect(json.status == 0)
        #expect(json.text.split(separator: "\n").count == 3)
        #expect(!(list.text + json.text + list.errors + json.errors).contains("s3cr3t"))
        try expect(daemon, "coffer keychain find --class internet-password --contains server=3.ex", "s3cr3t")
        let all = try status(daemon, "coffer keychain delete --class internet-password")
        #expect(all == 64)
        try expect(daemon, "coffer keychain delete --class internet-password --all", "deleted 5\n")
    }

    @Test func `what expires soon is listed, and readable when it has expired`() throws {
        let daemon = try vault()
        _ = try add(daemon, "printf a | coffer keychain add --account soon --expires 10d")
        _ = try add(daemon, "printf b | coffer keychain add --account late --expires 2999-12-31")
        _ = try add(daemon, "printf c | coffer keychain add --account past --expires 2001-01-01T00:00:00Z")
        _ = try add(daemon, "printf d | coffer keychain add --account never")
        let list = try run(daemon, "coffer keychain find --expiring 30d")
        let names = list.text.split(separator: "\n").map { $0.dropFirst(32 + 2 + 16 + 2) }
        #expect(names.sorted() == ["past  expired", "soon"])
        try expect(daemon, "coffer keychain find --account past", "c")
        let wrong = try status(daemon, "coffer keychain find --expiring 2026-02-30")
        #expect(wrong == 64)
    }

    // MARK: States

    @Test func `locked, missing and denied are three answers`() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.appending("e"), withIntermediateDirectories: true)
        let rights = "[Client]\nUID=\(geteuid())\nGroups=default\nVerbs=read write delete lock admin\n"
        try directory.write(Array(rights.utf8), to: "e/own.conf")
        let daemon = try vault(DaemonProcess(in: directory, ["--entitlements", directory.appending("e")]))
        _ = try add(daemon, "printf a | coffer keychain add --account anna")
        _ = try add(daemon, "printf b | coffer keychain add --account back --accessible AfterFirstUnlock")
        try expect(daemon, "coffer lock --now", "locked\n")
        let locked = try run(daemon, "coffer keychain find --account anna")
        #expect(locked.status == 75)
        #expect(locked.text == "")
        let missing = try status(daemon, "coffer keychain find --account nobody")
        #expect(missing == 66)
        let denied = try status(daemon, "coffer keychain find --other accessGroup=not.mine")
        #expect(denied == 77)
        try expect(daemon, "coffer keychain find --account back", "b")
        let list = try run(daemon, "coffer keychain find --all")
        #expect(list.text.matches(of: /(?m)anna  locked$/).count == 1)
        #expect(list.text.matches(of: /(?m)back$/).count == 1)
        let over = try status(daemon, "printf c | coffer keychain add --account anna")
        #expect(over == 73)
        try expect(daemon, "coffer keychain delete --account anna", "deleted 1\n")
    }

    @Test func `a reference survives an update and a restart`() throws {
        let daemon = try vault()
        let reference = try add(daemon, "printf a | coffer keychain add --account anna --accessible AfterFirstUnlock")
        try expect(daemon, "coffer keychain update --account anna --set label=x", "updated 1\n")
        try daemon.restart()
        let locked = try status(daemon, "coffer keychain find --reference \(reference)")
        #expect(locked == 75)
        try expect(daemon, "coffer unlock --passcode-fd 3 3<pass >/dev/null", "")
        try expect(daemon, "coffer keychain find --reference \(reference)", "a")
    }

    // MARK: Former values

    @Test func `former values are kept, shown by number and restored`() throws {
        let daemon = try vault()
        _ = try add(daemon, "printf v1 | coffer keychain add --account anna --history 2")
        for value in ["v2", "v3", "v4"] {
            try expect(daemon, "printf \(value) | coffer keychain update --account anna --secret", "updated 1\n")
        }
        let list = try run(daemon, "coffer keychain history --account anna")
        let numbers = list.text.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        try #require(numbers.count == 2, "\(list.text)\(list.errors)")
        try expect(daemon, "coffer keychain history --account anna --number \(numbers[0])", "v3")
        try expect(daemon, "coffer keychain restore \(numbers[1]) --account anna", "")
        try expect(daemon, "coffer keychain find --account anna", "v2")
        #expect(!list.text.contains("v3"))
    }

    // MARK: Keys

    @Test func `a key is made, signs, and never leaves`() throws {
        let daemon = try vault()
        _ = try add(daemon, "coffer keychain add --generate ed25519 --label signer --other isExtractable=false")
        try expect(daemon, "printf message | coffer keychain sign --label signer >one && stat -c %s one", "64\n")
        try expect(daemon, "printf message | coffer keychain sign --label signer -o two && cmp one two", "")
        let key = try run(daemon, "coffer keychain public-key --label signer")
        #expect(Base64.decode(key.text.trimmingCharacters(in: .newlines))?.count == 32)
        let read = try run(daemon, "coffer keychain find --class key --label signer")
        #expect(read.text == "")
        let wrong = try status(daemon, "coffer keychain agree --label signer --peer \(Base64.encode(.init(1...32)))")
        #expect(wrong == 64)
    }

    @Test func `two keys agree on one secret`() throws {
        let daemon = try vault()
        for name in ["a", "b"] { _ = try add(daemon, "coffer keychain add --generate x25519 --label \(name)") }
        try expect(
            daemon,
            """
            coffer keychain agree --label a --peer "$(coffer keychain public-key --label b)" -o one && \
            coffer keychain agree --label b --peer "$(coffer keychain public-key --label a)" -o two && \
            cmp one two && stat -c %s one
            """,
            "32\n"
        )
    }
}
