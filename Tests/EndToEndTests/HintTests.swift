import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import Foundation
import Testing

/// The hints of damage: what each of them names is done, and helps.
@Suite struct HintTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        let made = try run("coffer init --kdf interactive --passcode-fd 3 --recovery-key-file key 3<<<'pass one'")
        #expect(made.status == 0, "\(made.errors)")
        _ = try run("printf s3cret | coffer put site/token")
        _ = try run("head -c 300000 /dev/zero | coffer put notes/a --kind document")
    }

    /// Runs a command of a shell, as a person does who follows a hint.
    private func run(_ command: String) throws -> CommandResult {
        try runCommand(
            "/bin/bash",
            ["-c", command],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    @discardableResult
    private func expect(_ command: String, status: Int32, _ texts: String...) throws -> CommandResult {
        let result = try run(command)
        #expect(result.status == status, "\(command): \(result.text)\(result.errors)")
        for text in texts {
            #expect((result.text + result.errors).contains(text), "\(command): \(result.text)\(result.errors)")
        }
        return result
    }

    /// Changes the state directory while no daemon runs.
    private func stopped(_ body: () throws -> Void) throws {
        daemon.stop()
        try body()
        try daemon.restart()
    }

    private func tamper(_ sql: StaticString) throws {
        try stopped { try Connection(path: "\(daemon.statePath)/vault.sqlite").execute(sql) }
        try expect("coffer unlock --passcode-fd 3 3<<<'pass one'", status: 0)
    }

    private func flip(_ place: Int, of path: String) throws {
        let url = URL(filePath: path)
        var bytes = try Data(contentsOf: url)
        bytes[place] ^= 1
        try bytes.write(to: url)
    }

    /// The vault is whole, and a new one if it was erased.
    private func expectWell() throws { try expect("coffer doctor", status: 0, "all is well") }

    // MARK: Items

    @Test func `a damaged content is saved by the command of the hint, and storing it again ends the damage`() throws {
        let blobs = daemon.statePath + "/blobs"
        let blob = try #require(
            FileManager.default.subpathsOfDirectory(atPath: blobs).first {
                ($0 as NSString).lastPathComponent.count == 32
            }
        )
        try flip(150_000, of: "\(blobs)/\(blob)")
        for command in ["coffer get notes/a >copy", "coffer doctor"] {
            let refused = try expect(command, status: 65)
            let advice = refused.text + refused.errors
            let words = advice.firstMatch(of: #/save what can be read by (coffer .* FILE), then/#)?.output.1
            try? daemon.directory.remove("FILE")
            try expect(String(try #require(words)), status: 65, "saved 234464 of 300000 bytes")
            #expect(daemon.directory.contents("FILE") == [UInt8](repeating: 0, count: 300_000))
        }
        // A repair leaves the file as it is, and says so.
        try expect("coffer doctor --repair", status: 65, "which --repair leaves as they are")
        try expect("coffer put notes/a FILE", status: 0)
        try expectWell()
        try expect("coffer get notes/a >copy", status: 0)
    }

    @Test func `a damaged content is removed, as the hint says`() throws {
        try FileManager.default.removeItem(atPath: daemon.statePath + "/blobs")
        try expect("coffer get notes/a", status: 65, "its content is missing", "or remove it")
        try expect("coffer remove notes/a", status: 0)
        try expectWell()
    }

    @Test(arguments: ["site/token", "notes/a"])
    func `a damaged row is quarantined by the command of the hint, and its name is free`(name: String) throws {
        try tamper(
            name == "notes/a"
                ? "UPDATE file_nodes SET metadata = x'00' WHERE kind = 2" : "UPDATE keychain_items SET secret = x'00'"
        )
        let command = try expect("coffer get \(name)", status: 65).errors.firstMatch(of: #/'(coffer [^']*)'/#)
        #expect(command?.output.1 == "coffer doctor --repair")
        try expect("coffer doctor --repair", status: 0, "moved into quarantine")
        try expect("coffer get \(name)", status: 66)
        try expect("printf anew | coffer put \(name)", status: 0)
        try expect("coffer get \(name)", status: 0, "anew")
        try expect("coffer doctor", status: 0, "in quarantine: 1", "all is well")
    }

    @Test func `a secret that was put back is stored again, as the hint says`() throws {
        func whileStopped(_ body: (Connection) throws -> Void) throws {
            try stopped { try body(try Connection(path: "\(daemon.statePath)/vault.sqlite")) }
            try expect("coffer unlock --passcode-fd 3 3<<<'pass one'", status: 0)
        }
        var former: [[UInt8]] = []
        try whileStopped { catalog in
            try catalog.rows("SELECT metadata, wrapped_key, secret FROM keychain_items") { row in
                former = [try row.blob(0), try row.blob(1), try row.blob(2)]
                return true
            }
        }
        try expect("printf newer | coffer put site/token", status: 0)
        try whileStopped { catalog in
            try catalog.execute(
                "UPDATE keychain_items SET metadata = ?, wrapped_key = ?, secret = ?",
                .blob(former[0]),
                .blob(former[1]),
                .blob(former[2])
            )
        }
        try expect(
            "coffer keychain history --service site --account token",
            status: 65,
            "put back",
            "hint: store the present secret again"
        )
        try expect("printf newer | coffer put site/token", status: 0)
        try expect("coffer keychain history --service site --account token", status: 0)
        try expect("coffer get site/token", status: 0, "newer")
        try expectWell()
    }

    // MARK: The vault

    @Test func `a damaged device key is replaced with the recovery key, as the hint says`() throws {
        try stopped { try Data([1, 2, 3]).write(to: URL(filePath: daemon.statePath + "/device.key")) }
        try expect("coffer status", status: 65, "'coffer passcode change --recovery-key'")
        try stopped {
            try FileManager.default.moveItem(
                atPath: daemon.statePath + "/device.key",
                toPath: daemon.directory.appending("aside")
            )
        }
        let change = "coffer passcode change --recovery-key-fd 3 --new-passcode-fd 4 3<key 4<<<'pass one'"
        try expect(change, status: 0)
        try expect("coffer get site/token", status: 0, "s3cret")
        try expectWell()
    }

    /// Files of the state directory without which the vault does not open.
    @Test(arguments: ["keybag", "vault.sqlite"], [false, true])
    func `a vault that can't be opened is opened by a copy, or erased`(name: String, hasCopy: Bool) throws {
        let path = "\(daemon.statePath)/\(name)"
        var kept = Data()
        try stopped {
            kept = try Data(contentsOf: URL(filePath: path))
            try flip(name == "keybag" ? 700 : 20, of: path)
        }
        let refused = try expect("coffer doctor", status: 65)
        #expect(refused.errors.contains("'coffer erase'"), "\(refused.errors)")
        #expect(!refused.errors.contains("backup"))
        if hasCopy {
            try stopped { try kept.write(to: URL(filePath: path)) }
            try expect("coffer unlock --passcode-fd 3 3<<<'pass one'", status: 0)
            try expect("coffer get site/token", status: 0, "s3cret")
        } else {
            try expect("coffer erase --yes", status: 0)
            try expect("coffer init --no-passcode --no-recovery-key", status: 0)
        }
        try expectWell()
    }

    @Test func `a catalog that is missing is put back, or the vault erased`() throws {
        let path = "\(daemon.statePath)/vault.sqlite"
        let aside = daemon.directory.appending("aside")
        try stopped { try FileManager.default.moveItem(atPath: path, toPath: aside) }
        let refused = try run("coffer doctor")
        #expect(refused.status != 0 && refused.errors.contains("'coffer erase'"), "\(refused.errors)")
        try expect("coffer erase --yes", status: 0)
        try expect("coffer init --no-passcode --no-recovery-key", status: 0)
        try expectWell()
    }

    @Test func `a foreign trigger is dropped, as the hint says`() throws {
        try stopped {
            try Connection(path: "\(daemon.statePath)/vault.sqlite").execute(
                "CREATE TRIGGER t BEFORE INSERT ON keychain_items BEGIN SELECT RAISE(IGNORE); END"
            )
        }
        try expect("coffer status", status: 65, "hint: stop cofferd, drop it with 'sqlite3', and start cofferd again")
        try stopped { try Connection(path: "\(daemon.statePath)/vault.sqlite").execute("DROP TRIGGER t") }
        try expect("coffer unlock --passcode-fd 3 3<<<'pass one'", status: 0)
        try expect("coffer get site/token", status: 0, "s3cret")
    }
}
