import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// `coffer duplicate`, which is also `cp`.
@Suite struct DuplicateTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    private func shown(_ name: String) throws -> [String: Any] {
        let text = try daemon.coffer(["show", name, "--json"]).text
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test(arguments: ["WhenUnlocked", "AfterFirstUnlock", "WhenUnlockedThisDeviceOnly", "WhenUnlockedDeposit"])
    func `a copy of a secret has its content, protection and attributes`(accessibility: String) throws {
        let put = ["put", "a/b", "--accessible", accessibility, "--note", "a note", "--tag", "work", "--expires", "1y"]
        #expect(try daemon.coffer(put, input: Array("s3cret\u{0}".utf8)).status == 0)
        let copied = try daemon.coffer(["cp", "a/b", "c/d"])
        #expect(copied.status == 0 && copied.text.isEmpty, "\(copied.text)\(copied.errors)")
        #expect(try daemon.coffer(["get", "c/d"]).output == Array("s3cret\u{0}".utf8))
        let (one, other) = (try shown("a/b"), try shown("c/d"))
        for member in ["accessible", "store", "kind", "size", "expiryDate", "user"] {
            #expect("\(one[member] ?? "")" == "\(other[member] ?? "")", "\(member)")
        }
        #expect((other["attributes"] as? [String: Any])?["comment"] as? String == "a note")
        #expect(other["formerValues"] as? Int == 0)
    }

    @Test(
        arguments: ["complete", "completeUnlessOpen", "completeUntilFirstUserAuthentication", "none"],
        [900, 3_000_000]
    )
    func `a copy of a file has its content, and its class unless a new file would have a stricter one`(
        protection: String,
        byteCount: Int
    ) throws {
        let content = pseudoRandomBytes(byteCount)
        #expect(try daemon.put(["a", "--protection", protection, "--store", "file"], input: content).status == 0)
        #expect(try daemon.coffer(["duplicate", "a", "b/c"]).status == 0)
        #expect(try daemon.coffer(["get", "b/c"]).output == content)
        let expected = protection == "none" ? "completeUntilFirstUserAuthentication" : protection
        #expect(try shown("b/c")["protection"] as? String == expected)
        #expect(try shown("b/c")["store"] as? String == "file")
    }

    @Test func `a copy of a file is never weaker than it, nor than what it replaces`() throws {
        for (directory, protection) in [("strict", "complete"), ("weak", "none")] {
            #expect(try daemon.coffer(["file", "mkdir", directory, "--class", protection]).status == 0)
            #expect(try daemon.put(["\(directory)/a"], input: pseudoRandomBytes(3000)).status == 0)
        }
        func protection(of name: String) throws -> String? { try shown(name)["protection"] as? String }
        #expect(try daemon.coffer(["cp", "strict/a", "weak/b"]).status == 0)
        #expect(try protection(of: "weak/b") == "complete")
        #expect(try daemon.coffer(["cp", "weak/a", "strict/b"]).status == 0)
        #expect(try protection(of: "strict/b") == "complete")
        #expect(try daemon.coffer(["cp", "weak/a", "weak/c"]).status == 0)
        #expect(try protection(of: "weak/c") == "none")
        #expect(try daemon.coffer(["cp", "weak/a", "weak/b", "--replace"]).status == 0)
        #expect(try protection(of: "weak/b") == "complete")
        #expect(try daemon.put(["weak/b"], input: pseudoRandomBytes(3000)).status == 0)
        #expect(try protection(of: "weak/b") == "complete")
        #expect(try daemon.put(["weak/b", "--protection", "none"], input: pseudoRandomBytes(3000)).status == 0)
        #expect(try protection(of: "weak/b") == "none")
    }

    @Test func `an item that is there stays, unless it is to be replaced`() throws {
        _ = try daemon.put(["a"], input: Array("one".utf8))
        _ = try daemon.put(["b"], input: Array("two".utf8))
        let refused = try daemon.coffer(["cp", "a", "b"])
        #expect(refused.status == 73 && refused.errors.contains("--replace replaces it"), "\(refused.errors)")
        #expect(try daemon.coffer(["get", "b"]).text == "two")
        #expect(try daemon.coffer(["cp", "a", "b", "--replace"]).status == 0)
        #expect(try daemon.coffer(["get", "b"]).text == "one")
        #expect(try daemon.coffer(["cp", "a", "a"]).status == 64)
        #expect(try daemon.coffer(["cp", "missing", "c"]).status == 66)
    }

    @Test func `what a copy would make another thing is refused`() throws {
        let login = ["keychain", "add", "--class", "internet-password", "--server", "a.example", "--account", "nina"]
        #expect(try daemon.coffer(login, input: Array("x".utf8)).status == 0)
        #expect(try daemon.coffer(["cp", "login:nina@a.example", "b"]).status == 64)
        let guarded = [
            "keychain", "add", "--service", "bank", "--account", "pin", "--access-control", "devicePasscode",
        ]
        #expect(try daemon.coffer(guarded, input: Array("x".utf8)).status == 0)
        let refused = try daemon.coffer(["cp", "bank/pin", "b"])
        #expect(refused.status == 64 && refused.errors.contains("would not require authentication"))
        #expect(try daemon.coffer(["get", "b"]).status == 66)
    }

    @Test func `a locked item has no copy`() throws {
        _ = try daemon.put(["a"], input: Array("one".utf8))
        _ = try daemon.coffer(["lock", "--now"])
        #expect(try daemon.coffer(["cp", "a", "b"]).status == 75)
    }
}
