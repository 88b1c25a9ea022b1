import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The verbs of the tree below `coffer file`, through the real programs.
@Suite struct FileTreeVerbsTests {
    private static let content = pseudoRandomBytes(70_000)

    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        for path in ["d/one", "d/sub/two", "d/sub/three", "top"] {
            try client.put(path, Self.content) { $0.kind = .database }
        }
        return daemon
    }

    private func text(_ daemon: DaemonProcess, _ arguments: [String]) throws -> String {
        let result = try daemon.coffer(["file"] + arguments)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        #expect(result.errors.isEmpty)
        return result.text
    }

    private func status(_ daemon: DaemonProcess, _ arguments: [String]) throws -> Int32 {
        let result = try daemon.coffer(["file"] + arguments)
        #expect((result.status == 0) == result.errors.isEmpty)
        return result.status
    }

    /// Every content on the disk, by the inode that it has.
    private func contents(_ daemon: DaemonProcess) throws -> [Int: Data] {
        let blobs = daemon.statePath + "/blobs"
        var found: [Int: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: blobs) {
            // What is being removed may be gone by now.
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: "\(blobs)/\(name)"),
                attributes[.type] as? FileAttributeType == .typeRegular
            else { continue }
            found[try #require(attributes[.systemFileNumber] as? Int)] = FileManager.default.contents(
                atPath: "\(blobs)/\(name)"
            )
        }
        return found
    }

    @Test func `directories are made, listed, moved and removed`() throws {
        let daemon = try vault()
        #expect(try text(daemon, ["list"]) == "d/\ntop\n")
        #expect(try text(daemon, ["list", "d"]) == "d/one\nd/sub/\n")
        #expect(
            try text(daemon, ["list", "--recursive"]) == "d/\nd/one\nd/sub/\nd/sub/three\nd/sub/two\ntop\n"
        )
        #expect(try text(daemon, ["mkdir", "a/b", "--parents", "--class", "complete"]).isEmpty)
        #expect(try status(daemon, ["mkdir", "a/b"]) == 73)
        #expect(try status(daemon, ["mkdir", "no/b"]) == 66)
        #expect(try text(daemon, ["move", "d", "a/b/d"]).isEmpty)
        #expect(try text(daemon, ["move", "top", "a/b/d/one", "--replace"]).isEmpty)
        #expect(try status(daemon, ["move", "a", "a/b/c"]) == 64)
        #expect(try status(daemon, ["move", "a/b/d/one", "a/b/d/sub"]) == 73)
        let moved = try daemon.coffer(["get", "a/b/d/sub/two"])
        #expect(moved.output == Self.content)
        let long = try text(daemon, ["list", "a", "--long"])
        #expect(long.contains("while unlocked") && long.contains("1 entry") && long.hasSuffix("  a/b/\n"))
        #expect(try status(daemon, ["remove", "a"]) == 64)
        #expect(try status(daemon, ["remove", "missing", "a/b/d/one"]) == 66)
        #expect(try text(daemon, ["remove", "--recursive", "a/b/d"]).isEmpty)
        #expect(try text(daemon, ["list", "--recursive"]) == "a/\na/b/\n")
        #expect(try contents(daemon).isEmpty)
    }

    @Test func `a file and a directory are shown`() throws {
        let daemon = try vault()
        let file = try text(daemon, ["stat", "d/one"])
        #expect(file.contains("is:          a file\n"))
        #expect(file.contains("readable:    after first unlock\n"))
        #expect(file.contains("size:        70000 bytes\n"))
        #expect(file.contains("readable:    now\n"))
        let directory = try text(daemon, ["stat", "d", "--json"])
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(directory.utf8)) as? [String: Any]
        )
        #expect(object["isDirectory"] as? Bool == true)
        #expect(object["children"] as? Int == 2)
        #expect(object["class"] == nil)
        #expect(try status(daemon, ["stat", "no"]) == 66)
    }

    @Test func `a directory is protected with all that is in it, and its contents stay as they are`() throws {
        let daemon = try vault()
        let before = try contents(daemon)
        #expect(before.count == 4)
        #expect(try status(daemon, ["protect", "d", "complete"]) == 64)
        #expect(
            try text(daemon, ["protect", "d", "completeUnlessOpen", "--default"])
                == "changed 1 entry: readable while unlocked, written at any time\n"
        )
        #expect(try text(daemon, ["protect", "d", "complete", "--recursive"]).hasPrefix("changed 4 entries"))
        #expect(try text(daemon, ["protect", "d", "complete", "--recursive"]).hasPrefix("changed 0 entries"))
        let after = try contents(daemon)
        #expect(after == before)
        #expect(try daemon.coffer(["lock", "--now"]).status == 0)
        let refused = try daemon.coffer(["file", "protect", "d", "none", "--recursive"])
        #expect(refused.status == 75)
        #expect(refused.text == "changed 1 entry: readable always\n")
        #expect(refused.errors.contains("unchanged: 'd/sub/two': "))
        #expect(refused.errors.split(separator: "\n").count == 3)
        #expect(try text(daemon, ["list", "d", "--long"]).contains("locked"))
        #expect(try text(daemon, ["move", "d/one", "e"]).isEmpty)
        try daemon.connect().unlock()
        #expect(try daemon.coffer(["get", "e"]).output == Self.content)
    }

    @Test func `what was done survives a kill`() throws {
        let daemon = try vault()
        _ = try text(daemon, ["mkdir", "empty", "--class", "complete"])
        _ = try text(daemon, ["move", "d/sub", "moved"])
        _ = try text(daemon, ["remove", "d", "--recursive"])
        try daemon.restart()
        try daemon.connect().unlock()
        #expect(try text(daemon, ["list", "--recursive"]) == "empty/\nmoved/\nmoved/three\nmoved/two\ntop\n")
        #expect(try text(daemon, ["stat", "empty"]).contains("readable:    while unlocked, for new files\n"))
        #expect(try contents(daemon).count == 3)
    }

    @Test func `a kill in the middle of a removal leaves whole files, and nothing for good`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        let count = 2000
        let puts = try (0..<8).map { part in
            let other = try daemon.connect()
            return Background {
                for number in stride(from: part, to: count, by: 8) {
                    try other.put("many/\(number % 5)/\(number)", [1]) { $0.kind = .cache }
                }
            }
        }
        for put in puts { try put.wait() }
        let removal = Background { try daemon.coffer(["file", "remove", "--recursive", "many"]).status }
        while try contents(daemon).count > count - 300 { sleepSeconds(0.001) }
        daemon.kill()
        _ = try? removal.wait()
        try daemon.restart()
        let page = try daemon.connect().listFiles(recursive: true)
        #expect(page.damagedCount == 0)
        let files = try daemon.connect().status().fileCount
        #expect(try contents(daemon).count == files)
        #expect(try status(daemon, ["remove", "--recursive", "many"]) == (files == 0 ? 66 : 0))
        #expect(try contents(daemon).isEmpty)
    }
}
