import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `item.protect` and `coffer protect`, through the real programs.
@Suite struct ProtectTests {
    private static let content = pseudoRandomBytes(1_000_000)

    private func vault(passcode: String? = DaemonProcess.passcode) throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: passcode)
        for protectionClass in ProtectionClass.allCases {
            try client.put("f/\(protectionClass)", Self.content) {
                $0.kind = .database
                $0.protectionClass = protectionClass
            }
        }
        for accessibility in Accessibility.allCases where accessibility != .whenPasscodeSetThisDeviceOnly {
            try client.put("k/\(accessibility)", [1, 2, 3]) { $0.accessibility = accessibility }
        }
        return daemon
    }

    /// Every content on the disk, by the inode that it has.
    private func contents(_ daemon: DaemonProcess) throws -> [Int: Data] {
        let blobs = daemon.statePath + "/blobs"
        var found: [Int: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: blobs) {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(blobs)/\(name)")
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            found[try #require(attributes[.systemFileNumber] as? Int)] = FileManager.default.contents(
                atPath: "\(blobs)/\(name)"
            )
        }
        return found
    }

    @Test func `the verb changes what a lock takes away, and nothing of the content`() throws {
        let daemon = try vault()
        let before = try contents(daemon)
        #expect(before.count == 5)
        let toC = try daemon.coffer(["protect", "f/complete", "completeUntilFirstUserAuthentication"])
        #expect(toC.status == 0, "\(toC.errors)")
        #expect(toC.text == "protected 'f/complete' in the file store; it stays readable while locked\n")
        #expect(toC.errors.isEmpty)
        let toA = try daemon.coffer(["protect", "f/none", "complete"])
        #expect(toA.status == 0)
        let item = try daemon.coffer(["protect", "k/whenUnlocked", "AfterFirstUnlock"])
        #expect(item.text == "protected 'k/whenUnlocked' in the keychain; it stays readable while locked\n")
        #expect(try contents(daemon) == before)
        #expect(try daemon.coffer(["lock", "--now"]).status == 0)
        let results = try ["f/complete", "f/none", "k/whenUnlocked"].map { try daemon.coffer(["get", $0]) }
        #expect(results.map(\.status) == [0, 75, 0])
        #expect(results[0].output == Self.content)
        #expect(results[2].output == [1, 2, 3])
        try daemon.connect().unlock()
        let unlocked = try daemon.coffer(["get", "f/none"])
        #expect(unlocked.output == Self.content)
    }

    @Test func `the verb ends with the code of what kept it`() throws {
        let daemon = try vault()
        _ = try daemon.connect().lock(graceSeconds: 0)
        func status(_ name: String, _ protection: String) throws -> Int32 {
            try daemon.coffer(["protect", name, protection]).status
        }
        #expect(try status("f/complete", "none") == 75)
        #expect(try status("f/none", "complete") == 75)
        #expect(try status("f/completeUnlessOpen", "none") == 75)
        #expect(try status("k/always", "WhenUnlocked") == 75)
        #expect(try status("missing", "none") == 66)
        #expect(try status("f/none", "Complete") == 64)
        #expect(try status("../none", "none") == 64)
        // The class that it has, and class B, whose public key is always there.
        #expect(try status("f/complete", "complete") == 0)
        #expect(try status("f/none", "completeUnlessOpen") == 0)
        #expect(try daemon.coffer(["get", "f/none"]).status == 75)
        try daemon.restart()
        #expect(try status("k/always", "AlwaysThisDeviceOnly") == 0)
        #expect(try status("k/afterFirstUnlock", "Always") == 75)
        let refused = try daemon.coffer(["protect", "k/afterFirstUnlock", "Always"])
        #expect(refused.errors.hasPrefix("error: can't read 'k/afterFirstUnlock': "))
        #expect(refused.errors.hasSuffix("hint: run 'coffer unlock' and repeat the command\n"))
    }

    @Test func `a vault without a passcode knows all but what wants one`() throws {
        let daemon = try vault(passcode: nil)
        let refused = try daemon.coffer(["protect", "k/whenUnlocked", "WhenPasscodeSetThisDeviceOnly"])
        #expect(refused.status == 77)
        #expect(refused.errors.contains("'k/whenUnlocked': it requires a passcode, and the vault has none"))
        // No class of a file is as strict.
        let file = try daemon.coffer(["protect", "f/none", "WhenPasscodeSetThisDeviceOnly"])
        #expect(file.status == 64)
        #expect(file.errors.contains("only the keychain has that"))
        #expect(try daemon.coffer(["get", "f/none"]).output == Self.content)
    }

    @Test
    func `what was said in the terms of the other store is converted, with a warning, and so is what is deprecated`()
        throws
    {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try client.protect(try ItemName("f/none"), as: .keychain(.afterFirstUnlock))
        #expect(file.item.protection == .file(.completeUntilFirstUserAuthentication))
        let becomes = "in the file store, this is 'after first unlock'"
        #expect(file.warnings == ["'AfterFirstUnlock' is a protection of the keychain: \(becomes)"])
        let item = try client.protect(try ItemName("k/whenUnlocked"), as: .file(.none))
        #expect(item.item.protection == .keychain(.always))
        #expect(item.warnings.count == 2)
        let plain = try client.protect(try ItemName("k/whenUnlocked"), as: .keychain(.whenUnlocked))
        #expect(plain.warnings.isEmpty)
        let shown = try client.show(try ItemName("k/whenUnlocked"))
        #expect([plain.item.protection, plain.item.protection] == [shown.protection, .keychain(.whenUnlocked)])
        let warned = try daemon.coffer(["protect", "k/whenUnlocked", "Always", "--json"])
        #expect(warned.status == 0)
        #expect(warned.errors.hasPrefix("warning: this protection is deprecated: the item can be read in every state"))
        let printed = try #require(try JSONSerialization.jsonObject(with: Data(warned.output)) as? [String: Any])
        #expect(printed["name"] as? String == "k/whenUnlocked")
        #expect(printed["accessible"] as? String == "Always")
        #expect((printed["warnings"] as? [String])?.count == 1)
    }

    @Test func `an item moves to the store that is named, and what that can't have keeps it`() throws {
        let daemon = try vault()
        let moved = try daemon.coffer(["protect", "k/whenUnlocked", "--store", "file"])
        #expect(moved.status == 0)
        #expect(moved.text.hasPrefix("protected 'k/whenUnlocked' in the file store;"))
        #expect(try daemon.coffer(["get", "k/whenUnlocked"]).output == [1, 2, 3])
        let explained = try daemon.coffer(["explain", "k/whenUnlocked"]).text
        #expect(explained.contains("the caller named the store"), "\(explained)")
        let back = try daemon.coffer(["protect", "k/whenUnlocked", "AfterFirstUnlock", "--store", "keychain"])
        #expect(back.status == 0)
        #expect(try daemon.connect().show(try ItemName("k/whenUnlocked")).protection == .keychain(.afterFirstUnlock))
        let kept = try daemon.coffer(["protect", "k/whenUnlockedThisDeviceOnly", "--store", "file"])
        #expect(kept.status == 64)
        #expect(try daemon.coffer(["protect", "k/whenUnlocked", "--store", "keychain"]).status == 0)
        for words in [["--recursive", "--store", "file"], ["none", "--readable", "always"], []] {
            #expect(try daemon.coffer(["protect", "k/whenUnlocked"] + words).status == 64)
        }
    }

    @Test(arguments: [#"{"name":"f/none"}"#, #"{"name":"f/none","class":"complete","accessible":"Always"}"#])
    func `a request names one protection`(params: String) throws {
        let daemon = try vault()
        let object = try #require(try JSONValue(parsing: Array(params.utf8).span.bytes).objectValue)
        let client = try daemon.connect()
        let outcome = try Outcome { _ = try client.call(.itemProtect, Raw(json: object), returning: Empty.self) }
        #expect(outcome == .refused(.param))
        #expect(try client.show(try ItemName("f/none")).protection == .file(.none))
    }

    /// Parameters as they are.
    private struct Raw: WireObject {
        let json: JSONObject
        init(json: JSONObject) { self.json = json }
        init(reading reader: inout ParameterReader) { json = [:] }
    }

    // MARK: What is under way

    @Test(
        arguments: [
            (.none, .complete, .locked), (.completeUnlessOpen, .complete, .locked),
            (.complete, .completeUntilFirstUserAuthentication, .done), (.complete, .completeUnlessOpen, .done),
            (.none, .completeUnlessOpen, .done),
        ] as [(ProtectionClass, ProtectionClass, Outcome)]
    )
    func `a reader goes on over the change, and a lock finds it in the new class`(
        old: ProtectionClass,
        new: ProtectionClass,
        expected: Outcome
    ) throws {
        let daemon = try vault()
        let pipe = try PipeEnds()
        let client = try daemon.connect()
        let name = try ItemName("f/\(old)")
        let get = Background {
            defer { close(pipe.writing) }
            return try Outcome { _ = try client.get(ItemGetParameters(name: name), into: pipe.writing) }
        }
        // The pipe is full before the end of the file: the transfer waits.
        sleepSeconds(0.3)
        let other = try daemon.connect()
        let change = try other.protect(name, as: .file(new))
        #expect(change.item.protection == .file(new))
        _ = try other.lock(graceSeconds: 0)
        let received = drain(pipe.reading)
        close(pipe.reading)
        let outcome = try get.wait()
        #expect(outcome == expected)
        if outcome == .done { #expect(received == Self.content) }
        #expect(Self.content.starts(with: received))
    }

    @Test func `a put that is under way does not bring the old class back`() throws {
        let daemon = try vault()
        let pipe = try PipeEnds()
        let client = try daemon.connect()
        let name = try ItemName("f/none")
        let put = Background {
            defer { close(pipe.reading) }
            return try Outcome {
                var wishes = PlacementOptions()
                wishes.kind = .database
                _ = try client.put(name, wishes, content: nil, rest: pipe.reading)
            }
        }
        writeAll(pipe.writing, pseudoRandomBytes(150_000, seed: 2))
        sleepSeconds(0.2)
        _ = try daemon.connect().protect(name, as: .file(.complete))
        close(pipe.writing)
        let outcome = try put.wait()
        #expect(outcome == .refused(.duplicateItem))
        let reader = try daemon.connect()
        #expect(try reader.show(name).protection == .file(.complete))
        #expect(try daemon.coffer(["get", "f/none"]).output == Self.content)
    }

    // MARK: Durability

    @Test(arguments: ["f/none", "k/always"])
    func `a kill in the middle of changes leaves the one that was acknowledged, or the next`(name: String) throws {
        let daemon = try vault(passcode: nil)
        let item = try ItemName(name)
        let classes: [Protection] =
            name.hasPrefix("f")
            ? [.file(.complete), .file(.completeUnlessOpen), .file(.none)]
            : [.keychain(.whenUnlocked), .keychain(.afterFirstUnlock), .keychain(.always)]
        let content = try daemon.coffer(["get", name]).output
        var place = 2
        for round in 0..<15 {
            let client = try daemon.connect()
            let start = place
            let writer = Background { () -> Int in
                var last = start
                for step in 1...10_000 {
                    do { _ = try client.protect(item, as: classes[(start + step) % 3]) } catch { break }
                    last = start + step
                }
                return last
            }
            sleepSeconds(Double((round * 37) % 50) / 1000 + 0.002)
            daemon.kill()
            let last = try writer.wait()
            try daemon.restart()
            let again = try daemon.connect()
            let found = try again.show(item).protection
            #expect([classes[last % 3], classes[(last + 1) % 3]].contains(found), "round \(round)")
            #expect(try daemon.coffer(["get", name]).output == content, "round \(round)")
            place = try #require(classes.firstIndex(of: found))
        }
    }
}
