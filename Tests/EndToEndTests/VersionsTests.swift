import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What a file was before is kept as long as it says, as protected as it is, and taken back without losing the present.
@Suite struct VersionsTests {
    private func vault() throws -> (daemon: DaemonProcess, client: BlockingClient) {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        return (daemon, client)
    }

    private static func content(_ number: Int) -> [UInt8] { pseudoRandomBytes(70_000 + number, seed: UInt64(number)) }

    /// The contents on the disk.
    private func contents(_ daemon: DaemonProcess) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath + "/blobs")
            .filter { $0.split(separator: "/").last?.count == 32 && !$0.hasPrefix("staging") }
    }

    private func expectHealth(_ daemon: DaemonProcess) throws {
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
    }

    /// The states in which a file may be replaced, and how a vault gets there.
    private enum Replacing: CaseIterable {
        case unlocked, locked, beforeFirstUnlock
    }

    private func enter(
        _ replacing: Replacing,
        _ daemon: DaemonProcess,
        _ client: BlockingClient
    ) throws -> BlockingClient {
        switch replacing {
        case .unlocked: return client
        case .locked:
            _ = try client.lock(graceSeconds: 0)
            return client
        case .beforeFirstUnlock:
            try daemon.restart()
            return try daemon.connect()
        }
    }

    @Test(arguments: Replacing.allCases, ProtectionClass.allCases)
    private func `a file of each class keeps what a put replaces, in every state that permits the put`(
        replacing: Replacing,
        protectionClass: ProtectionClass
    ) throws {
        let (daemon, first) = try vault()
        try first.put("d/f", Self.content(1)) { $0.protectionClass = protectionClass }
        try first.keepVersions(2, of: "d/f")
        let written = try daemon.coffer(["file", "write", "d/f", "--offset", "69000"], input: Array("NEW".utf8))
        #expect(written.status == 0, "\(written.errors)")
        var former = Self.content(1)
        former.replaceSubrange(69_000..<69_003, with: Array("NEW".utf8))
        let client = try enter(replacing, daemon, first)
        let outcome = try Outcome { try client.put("d/f", Self.content(2)) { $0.protectionClass = protectionClass } }
        guard outcome == .done else {
            #expect(outcome == .locked)
            return
        }
        let isSealed = replacing == .beforeFirstUnlock && !protectionClass.isNamedInEveryState
        let listing = try Outcome { _ = try client.versions(of: "d/f") }
        #expect(listing == (isSealed ? .locked : .done))
        try daemon.restart()
        let second = try daemon.connect()
        try second.unlock()
        let version = try #require(try second.versions(of: "d/f").versions.first)
        #expect(version.byteCount == Int64(former.count) && version.protectionClass == protectionClass)
        #expect(try second.content(of: "d/f", version: version.number) == former)
        try second.restoreVersion(version.number, of: "d/f")
        #expect(try second.content(of: "d/f") == former)
        let present = try #require(try second.versions(of: "d/f").versions.first)
        #expect(try second.content(of: "d/f", version: present.number) == Self.content(2))
        #expect(try second.show(try ItemName("d/f")).protection == .file(protectionClass))
        try expectHealth(daemon)
    }

    @Test(arguments: ProtectionClass.allCases)
    func `a version is read in the states in which its file is`(protectionClass: ProtectionClass) throws {
        let (daemon, client) = try vault()
        try client.put("f", Self.content(1)) { $0.protectionClass = ProtectionClass.none }
        try client.keepVersions(3, of: "f")
        try client.put("f", Self.content(2)) { $0.protectionClass = ProtectionClass.none }
        // A change of class is one of the versions as well.
        try client.call(FileProtectParameters(try ItemName("f"), protectionClass, .file, in: nil))
        let version = try #require(try client.versions(of: "f").versions.first)
        #expect(version.protectionClass == protectionClass && version.isReadable)
        _ = try client.lock(graceSeconds: 0)
        let isReadable = protectionClass.permits(.read, in: try client.status().state)
        #expect(try client.versions(of: "f").versions.map(\.isReadable) == [isReadable])
        let outcome = try Outcome { _ = try client.content(of: "f", version: version.number) }
        #expect(outcome == (isReadable ? .done : .locked))
        let restored = try Outcome { try client.restoreVersion(version.number, of: "f") }
        // Where the file may be replaced. Its class is that of the version, whose key is wrapped for it already.
        #expect(restored == (protectionClass.permits(.create, in: .locked) ? .done : .locked))
        try client.unlock()
        try expectHealth(daemon)
    }

    @Test func `versions follow the class of the content that replaces them`() throws {
        let (daemon, client) = try vault()
        try client.put("f", Self.content(1)) { $0.protectionClass = ProtectionClass.none }
        try client.keepVersions(3, of: "f")
        try client.put("f", Self.content(2)) { $0.protectionClass = .complete }
        #expect(try client.versions(of: "f").versions.map(\.protectionClass) == [.complete])
        // What can't be opened keeps its class, and waits for it.
        try client.put("g", Self.content(3)) { $0.protectionClass = .completeUnlessOpen }
        try client.keepVersions(3, of: "g")
        _ = try client.lock(graceSeconds: 0)
        try client.put("g", Self.content(4)) { $0.protectionClass = ProtectionClass.none }
        let version = try #require(try client.versions(of: "g").versions.first)
        #expect(version.protectionClass == .completeUnlessOpen && !version.isReadable)
        #expect(try Outcome { _ = try client.content(of: "g", version: version.number) } == .locked)
        try client.unlock()
        #expect(try client.content(of: "g", version: version.number) == Self.content(3))
        try expectHealth(daemon)
    }

    @Test func `a weaker replacement weakens no version, and a version that is restored is not weakened`() throws {
        let (daemon, client) = try vault()
        try client.put("f", Self.content(1)) { $0.protectionClass = .complete }
        try client.keepVersions(3, of: "f")
        try client.put("f", Self.content(2)) { $0.protectionClass = ProtectionClass.none }
        let version = try #require(try client.versions(of: "f").versions.first)
        #expect(version.protectionClass == .complete)
        _ = try client.restoreVersion(version.number, of: "f")
        let file = try client.call(FileStatParameters(name: try ItemName("f"))).value
        #expect(file.protectionClass == .complete)
        try expectHealth(daemon)
    }

    @Test func `a directory says how many are kept in it, and the file may say otherwise`() throws {
        let (daemon, client) = try vault()
        #expect(try daemon.coffer(["file", "mkdir", "d", "--keep", "2"]).status == 0)
        for number in 1...4 { try client.put("d/e/f", Self.content(number)) }
        let found = try client.versions(of: "d/e/f")
        #expect(found.keepCount == 2 && found.isInherited)
        let read = try found.versions.map { try client.content(of: "d/e/f", version: $0.number) }
        #expect(read == [3, 2].map(Self.content))
        #expect(try client.keepVersions(1, of: "d/e/f") == 1)
        #expect(try client.versions(of: "d/e/f").versions.count == 1)
        #expect(try client.keepVersions(nil, of: "d/e/f") == 0)
        for number in 5...7 { try client.put("d/e/f", Self.content(number)) }
        #expect(try client.versions(of: "d/e/f").versions.count == 2)
        try client.keepVersions(0, of: "d")
        try client.put("d/e/f", Self.content(8))
        #expect(try client.versions(of: "d/e/f").versions.isEmpty)
        try client.put("o", Self.content(1))
        try client.put("o", Self.content(2))
        #expect(try client.versions(of: "o").keepCount == 0)
        try expectHealth(daemon)
        #expect(try eventualCount(daemon) == 2)
    }

    private func eventualCount(_ daemon: DaemonProcess) throws -> Int {
        _ = try settles { try contents(daemon).count <= 2 }
        return try contents(daemon).count
    }

    @Test func `a small put over a file with large versions leaves it one, and is not made a secret`() throws {
        let (daemon, client) = try vault()
        try client.put("f", Self.content(1))
        try client.keepVersions(2, of: "f")
        try client.put("f", [1, 2, 3])
        #expect(try client.versions(of: "f").versions.count == 1)
        let secret = try Outcome { try client.put("f", [4]) { $0.store = .keychain } }
        #expect(secret == .refused(.dataTooLarge))
        #expect(try client.get("f") == [1, 2, 3])
        let kept = try daemon.coffer(["put", "s", "--keep", "1"], input: [1])
        #expect(kept.status == 0, "\(kept.errors)")
        for value in 2...4 { try client.put("s", [UInt8(value)]) }
        let history = try daemon.coffer(["history", "s", "--json"])
        #expect(history.text.split(separator: "\n").count == 1)
    }

    @Test func `an editor that writes beside and renames makes a version, and a rename takes them along`() throws {
        let (daemon, client) = try vault()
        try client.put("d/letter", Self.content(1))
        try client.keepVersions(5, of: "d/letter")
        for number in 2...3 {
            try client.put("d/.letter.tmp", Self.content(number))
            let name = (old: try ItemName("d/.letter.tmp"), new: try ItemName("d/letter"))
            try client.call(FileRenameParameters(name: name.old, target: name.new, replaces: true))
        }
        try client.call(FileRenameParameters(name: try ItemName("d/letter"), target: try ItemName("e/letter")))
        let found = try client.versions(of: "e/letter")
        #expect(found.keepCount == 5 && !found.isInherited)
        let read = try found.versions.map { try client.content(of: "e/letter", version: $0.number) }
        #expect(read == [2, 1].map(Self.content))
        // A file with versions over another one: none is lost.
        try client.put("o", Self.content(7))
        try client.keepVersions(9, of: "o")
        try client.put("o", Self.content(8))
        let over = FileRenameParameters(name: try ItemName("e/letter"), target: try ItemName("o"), replaces: true)
        try client.call(over)
        let all = try client.versions(of: "o").versions
        #expect(try all.map { try client.content(of: "o", version: $0.number) } == [8, 7, 2, 1].map(Self.content))
        try expectHealth(daemon)
    }

    @Test func `the trash takes the versions of a file along, and brings them back`() throws {
        let (daemon, client) = try vault()
        for number in 1...3 {
            try client.put("f", Self.content(number))
            try client.keepVersions(5, of: "f")
        }
        let former = try client.versions(of: "f").versions
        let entry = try #require(try client.discard("f"))
        #expect(try client.status().trashByteCount > 200_000)
        try daemon.restart()
        let second = try daemon.connect()
        try second.unlock()
        try expectHealth(daemon)
        try second.restoreFromTrash(entry, as: "g")
        let found = try second.versions(of: "g").versions
        #expect(found.map(\.number) == former.map(\.number))
        #expect(try found.map { try second.content(of: "g", version: $0.number) } == [2, 1].map(Self.content))
        try second.discard("g")
        #expect(try daemon.coffer(["trash", "empty", "--yes"]).status == 0)
        #expect(try settles { try contents(daemon).isEmpty })
        try expectHealth(daemon)
    }

    @Test func `what is removed takes its versions with it, and versions are removed alone`() throws {
        let (daemon, client) = try vault()
        for number in 1...4 {
            try client.put("f", Self.content(number))
            try client.keepVersions(5, of: "f")
        }
        let first = try daemon.coffer(["file", "versions", "f", "--remove", "1"])
        #expect(first.text == "destroyed 1 version\n", "\(first.errors)")
        let left = try client.versions(of: "f").versions
        #expect(try left.map { try client.content(of: "f", version: $0.number) } == [2, 1].map(Self.content))
        let missing = try daemon.coffer(["file", "versions", "f", "--remove", "3"])
        #expect(missing.status == 66)
        try client.call(FileRemoveParameters(name: try ItemName("f")))
        #expect(try settles { try contents(daemon).isEmpty })
        try client.put("f", Self.content(9))
        #expect(try client.versions(of: "f").keepCount == 0)
        try expectHealth(daemon)
    }

    @Test func `one of several names makes no version, and what is open for writing neither`() throws {
        let (daemon, client) = try vault()
        try client.put("one", Self.content(1))
        try client.keepVersions(5, of: "one")
        try client.put("one", Self.content(2))
        let number = try #require(try client.versions(of: "one").versions.first).number
        #expect(try daemon.coffer(["file", "link", "one", "two"]).status == 0)
        #expect(try Outcome { try client.restoreVersion(number, of: "two") } == .refused(.param))
        try client.put("one", Self.content(3))
        #expect(try client.versions(of: "one").versions.isEmpty)
        #expect(try client.content(of: "two", version: number) == Self.content(1))
        let writer = try daemon.connect()
        let open = try writer.openFile(try ItemName("two"), for: .write)
        #expect(try Outcome { try client.restoreVersion(number, of: "two") } == .refused(.notAvailable))
        try client.put("two", Self.content(4))
        #expect(try client.versions(of: "two").versions.map(\.number) == [number])
        try open.close()
        try expectHealth(daemon)
    }

    @Test func `a version that is being read stays for its reader, and one with a writer is refused`() throws {
        let (daemon, client) = try vault()
        try client.put("f", Self.content(1))
        try client.keepVersions(1, of: "f")
        try client.put("f", Self.content(2))
        let number = try #require(try client.versions(of: "f").versions.first).number
        let reader = try daemon.connect()
        let open = try reader.openFile(try ItemName("f"), version: number)
        let written = try Outcome { _ = try client.openFile(try ItemName("f"), for: .write, version: number) }
        #expect(written == .refused(.param))
        try client.put("f", Self.content(3))
        #expect(try Outcome { _ = try client.content(of: "f", version: number) } == .refused(.itemNotFound))
        #expect(try open.read(at: 0, count: 100_000).exposeBytes() == Self.content(1))
        try open.close()
        try expectHealth(daemon)
    }

    @Test(arguments: ["read", "restore"])
    func `the number of a version without a file is an error, and not the version of the program`(verb: String) throws {
        let (daemon, _) = try vault()
        let refused = try daemon.coffer(["file", verb, "--version", "3"])
        #expect(refused.status == 64)
        #expect(refused.text == "" && refused.errors.hasPrefix("error: 'coffer file \(verb)' takes the name of a file"))
        #expect(try daemon.coffer(["file", "list", "--version"]).text.hasPrefix("coffer 0."))
    }

    @Test func `a kill in the middle leaves every content once, and nothing else`() throws {
        let (daemon, client) = try vault()
        try client.put("f", Self.content(1))
        try client.keepVersions(3, of: "f")
        try client.put("f", Self.content(2))
        for round in 0..<25 {
            let mover = try daemon.connect()
            let moving = Background {
                for _ in 0..<1000 {
                    do {
                        let version = try mover.versions(of: "f").versions.first
                        if let version { try mover.restoreVersion(version.number, of: "f") }
                    } catch { break }
                }
            }
            sleepSeconds(Double((round * 37) % 50) / 1000 + 0.002)
            daemon.kill()
            try moving.wait()
            try daemon.restart()
            let after = try daemon.connect()
            try after.unlock()
            let versions = try after.versions(of: "f").versions
            #expect(versions.count == 1, "round \(round)")
            let former = try versions.map { try after.content(of: "f", version: $0.number) }
            #expect(Set([try after.content(of: "f")] + former) == Set([1, 2].map(Self.content)), "round \(round)")
        }
        try expectHealth(daemon)
        #expect(try contents(daemon).count == 2, "no content is left behind")
    }
}
