import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What the tree does to the classes and contents of files, through the real socket of the real daemon.
@Suite struct FileTreeStateTests {
    private static let content = pseudoRandomBytes(70_000)
    private static let other = pseudoRandomBytes(80_000, seed: 5)

    private func vault() throws -> (DaemonProcess, BlockingClient) {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        return (daemon, client)
    }

    private func put(
        _ client: BlockingClient,
        _ name: String,
        _ protectionClass: ProtectionClass? = nil,
        _ content: [UInt8] = content
    ) throws {
        try client.put(name, content) {
            $0.kind = .database
            $0.protectionClass = protectionClass
        }
    }

    private func entry(_ client: BlockingClient, _ name: String) throws -> FileInfo {
        try client.fileInfo(try ItemName(name))
    }

    /// The contents on the disk, by inode.
    private func contents(_ daemon: DaemonProcess) throws -> [Int: Data] {
        let blobs = daemon.statePath + "/blobs"
        var found: [Int: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: blobs) where name.utf8.count > 32 {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(blobs)/\(name)")
            let inode = try #require(attributes[.systemFileNumber] as? Int)
            found[inode] = FileManager.default.contents(atPath: "\(blobs)/\(name)")
        }
        return found
    }

    // MARK: Inheriting

    @Test(arguments: ProtectionClass.allCases)
    func `what is new in a directory has its class`(protectionClass: ProtectionClass) throws {
        let (daemon, client) = try vault()
        try client.makeDirectory(try ItemName("d"), class: protectionClass)
        try put(client, "before", protectionClass == .complete ? ProtectionClass.none : .complete)
        let opened = try client.openFile(try ItemName("d/opened"), for: .write, .create)
        #expect(opened.protectionClass == protectionClass)
        try opened.put(Self.content)
        try opened.close()
        try put(client, "d/put")
        try put(client, "d/new/deep/put")
        let created = try daemon.coffer(["file", "create", "d/verb"], input: Self.content)
        #expect(created.status == 0)
        let asked = protectionClass == .complete ? ProtectionClass.none : .complete
        let chosen = try client.openFile(
            try ItemName("d/chosen"),
            for: .write,
            .create,
            protectionClass: asked
        )
        #expect(chosen.protectionClass == asked)
        try chosen.close()
        for name in ["d/opened", "d/put", "d/new/deep/put", "d/verb"] {
            let found = try entry(client, name)
            #expect(found.protectionClass == protectionClass, "\(name)")
        }
        // A move keeps the class, and a replacement is never weaker than what it replaces.
        try client.moveFile(try ItemName("before"), to: try ItemName("d/moved"))
        let moved = try entry(client, "d/moved").protectionClass
        #expect(moved == asked)
        try put(client, "d/moved", nil, Self.other)
        let replaced = try entry(client, "d/moved").protectionClass
        #expect(replaced == .complete)
        _ = try client.lock(graceSeconds: 0)
        #expect(try Outcome { _ = try client.openFile(try ItemName("d/moved")).get() } == .locked)
        for name in ["d/opened", "d/put"] {
            let read = try Outcome { _ = try client.openFile(try ItemName(name)).get() }
            #expect(read == (protectionClass.permits(.read, in: .locked) ? .done : .locked), "\(name)")
        }
        let late = try Outcome {
            let file = try client.openFile(try ItemName("d/late"), for: .write, [.create, .exclusive])
            #expect(file.protectionClass == protectionClass)
            try file.close()
        }
        #expect(late == (protectionClass.permits(.create, in: .locked) ? .done : .locked))
        try client.unlock()
        let moved2 = try client.openFile(try ItemName("d/moved")).get()
        #expect(moved2 == Self.other)
    }

    // MARK: Moving

    @Test(arguments: OracleTests.Situation.allCases)
    func `moving over a file is done at one stroke, and who reads it keeps it`(situation: OracleTests.Situation) throws
    {
        let daemon = try DaemonProcess(situation == .lockedExpired ? ["--inactive-after", "1"] : [])
        let client = try daemon.connect()
        try client.makeVault(passcode: situation == .noPasscode ? nil : DaemonProcess.passcode)
        for protectionClass in ProtectionClass.allCases {
            try put(client, "old/\(protectionClass)", protectionClass)
            try put(client, "new/\(protectionClass)", protectionClass, Self.other)
        }
        let isRestarted = situation == .beforeFirstUnlock || situation == .restarted
        let readers = try ProtectionClass.allCases.map { try client.openFile(try ItemName("old/\($0)")) }
        try situation.reach(daemon)
        let mover = try daemon.connect()
        let state = situation.state
        for (protectionClass, reader) in zip(ProtectionClass.allCases, readers) {
            let isNamed = !isRestarted || protectionClass == .none
            let refused = try Outcome {
                try mover.moveFile(try ItemName("new/\(protectionClass)"), to: try ItemName("old/\(protectionClass)"))
            }
            #expect(refused == (isNamed ? .refused(.duplicateItem) : .locked))
            if !isNamed {
                // Before the first unlock nobody can write its new name.
                continue
            }
            let moved = try mover.moveFile(
                try ItemName("new/\(protectionClass)"),
                to: try ItemName("old/\(protectionClass)"),
                replace: true
            )
            #expect(moved.protectionClass == protectionClass)
            #expect(moved.byteCount == Int64(Self.other.count))
            if isRestarted { continue }
            var kept: [UInt8] = []
            let read = try Outcome { kept = try reader.get() }
            let permitted = protectionClass.permits(.read, in: state) || protectionClass == .completeUnlessOpen
            #expect(read == (permitted ? .done : .locked), "\(protectionClass)")
            if read == .done { #expect(kept == Self.content) }
        }
        let gone = try Outcome { _ = try mover.listFiles(in: try ItemName("new")) }
        if !isRestarted { #expect(gone == .refused(.itemNotFound)) }
        for reader in readers { try? reader.close() }
        daemon.kill()
        try daemon.restart()
        let later = try daemon.connect()
        if situation != .noPasscode { try later.unlock() }
        for protectionClass in ProtectionClass.allCases {
            let read = try later.openFile(try ItemName("old/\(protectionClass)")).get()
            #expect(read == (isRestarted && protectionClass != .none ? Self.content : Self.other))
        }
        let count = try contents(daemon).count
        let keptCount = isRestarted ? ProtectionClass.allCases.count - 1 : 0
        #expect(count == ProtectionClass.allCases.count + keptCount)
    }

    @Test func `a concurrent reader sees the old file or the new one`() throws {
        let (daemon, client) = try vault()
        try put(client, "target")
        let isDone = Shared(false)
        let reader = try daemon.connect()
        let looks = Background { () -> Int in
            var count = 0
            while !isDone.value {
                let file = try reader.openFile(try ItemName("target"))
                let found = try file.get()
                try file.close()
                if found != Self.content && found != Self.other { throw POSIXError(.EILSEQ) }
                count += 1
            }
            return count
        }
        for round in 0..<30 {
            try put(client, "next", nil, round % 2 == 0 ? Self.other : Self.content)
            try client.moveFile(try ItemName("next"), to: try ItemName("target"), replace: true)
        }
        isDone.value = true
        let count = try looks.wait()
        #expect(count > 0)
    }

    // MARK: Protecting

    @Test func `a file that gets another class keeps its content, down to the inode`() throws {
        let (daemon, client) = try vault()
        try put(client, "d/file")
        let file = try client.openFile(try ItemName("d/file"), for: .readWrite)
        try file.put([1, 2, 3], at: 65_535)
        try file.close()
        let expected = try client.openFile(try ItemName("d/file")).get()
        let before = try contents(daemon)
        #expect(before.count == 2, "the content, and what was written over it")
        for protectionClass in ProtectionClass.allCases {
            try client.protectFile(try ItemName("d/file"), as: protectionClass)
            let now = try contents(daemon)
            #expect(now == before, "\(protectionClass)")
            let found = try entry(client, "d/file").protectionClass
            #expect(found == protectionClass)
            let read = try client.openFile(try ItemName("d/file")).get()
            #expect(read == expected)
        }
    }

    @Test(arguments: [OracleTests.Situation.beforeFirstUnlock, .locked, .lockedExpired])
    func `what a lock keeps from another class is counted, and named with the reason`(
        situation: OracleTests.Situation
    ) throws {
        let daemon = try DaemonProcess(situation == .lockedExpired ? ["--inactive-after", "1"] : [])
        let first = try daemon.connect()
        try first.makeVault()
        for protectionClass in ProtectionClass.allCases { try put(first, "d/\(protectionClass)", protectionClass) }
        for number in 0..<120 {
            try first.put("d/many/\(number)", [1]) {
                $0.kind = .database
                $0.protectionClass = .complete
            }
        }
        try situation.reach(daemon)
        let client = try daemon.connect()
        let state = situation.state
        // A to B: the public key is there, the key that the file is wrapped with is not.
        let change = try client.protectFile(try ItemName("d"), as: .completeUnlessOpen, .everything)
        let readable = ProtectionClass.allCases.filter { $0 != .completeUnlessOpen && $0.permits(.read, in: state) }
        #expect(change.changedCount == readable.count + 1)
        // Before the first unlock, that of class B is not known to be of it, nor the directory to be one.
        let sealedCount = state == .beforeFirstUnlock ? 2 : 0
        #expect(change.unchangedCount == 120 + 4 - readable.count + sealedCount)
        #expect(change.unchanged.count == 100)
        #expect(change.unchanged.allSatisfy { $0.code == .interactionNotAllowed && !$0.message.isEmpty })
        let locked = try Outcome { try client.protectFile(try ItemName("d/complete"), as: .completeUnlessOpen) }
        #expect(locked == .locked)
        let changed = try client.protectFile(try ItemName("d"), as: .complete, .newFiles)
        #expect(changed.changedCount == 1)
        let verb = try daemon.coffer(["file", "protect", "d", "completeUnlessOpen", "--recursive", "--json"])
        #expect(verb.status == 75)
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(verb.output)) as? [String: Any]
        )
        // What is sealed now: the file of class none as well, which has become one of class B.
        let unchangedCount = change.unchangedCount + (state == .beforeFirstUnlock ? 1 : 0)
        #expect(json["unchangedCount"] as? Int == unchangedCount)
        #expect(json["changed"] as? Int == 1, "the directory")
        #expect(verb.errors.contains("unchanged: \(unchangedCount - 100) more\n"))
        try client.unlock()
        let rest = try client.protectFile(try ItemName("d"), as: .completeUnlessOpen, .everything)
        #expect(rest.unchangedCount == 0)
        #expect(rest.changedCount == change.unchangedCount - sealedCount)
        let read = try client.openFile(try ItemName("d/complete")).get()
        #expect(read == Self.content)
    }

    // MARK: At rest

    @Test func `nothing on the disk tells the names of directories, or the sizes of files`() throws {
        let (daemon, client) = try vault()
        let names = (0..<12).map { "needle-\($0)-\(UInt64($0 + 1) &* 0x9E37_79B9_7F4A_7C15)" }
        try client.makeDirectory(try ItemName("\(names[0])/\(names[1])"), class: .complete, parents: true)
        try put(client, "\(names[0])/\(names[2])/\(names[3])")
        try client.moveFile(try ItemName("\(names[0])/\(names[2])"), to: try ItemName("\(names[4])/\(names[5])"))
        try client.makeDirectory(try ItemName(names[6]))
        try client.moveFile(try ItemName(names[6]), to: try ItemName(names[7]))
        try client.makeDirectory(try ItemName(names[8]))
        try put(client, "\(names[8])/\(names[9])")
        _ = try client.removeFile(try ItemName(names[8]), recursive: true)
        let size: Int64 = 0x7A_5A4E_3D
        let sparse = try client.openFile(try ItemName(names[10]), for: .write, .create)
        try sparse.truncate(to: size)
        try sparse.close()
        _ = try client.protectFile(try ItemName(names[4]), as: ProtectionClass.none, .everything)
        let sizes = [0, 8, 16, 24, 32].map { UInt8(truncatingIfNeeded: size >> $0) }
        var needles =
            names.map { Data($0.utf8) } + names.map { Data(Data($0.utf8).base64EncodedString().prefix(20).utf8) }
        needles += [Data(sizes), Data(sizes.reversed()), Data("\(size)".utf8)]
        func check(_ moment: String) throws {
            for file in try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath) {
                let bytes = FileManager.default.contents(atPath: "\(daemon.statePath)/\(file)") ?? Data()
                for needle in needles {
                    #expect(bytes.range(of: needle) == nil, "\(moment): \(file)")
                    #expect(Data(file.utf8).range(of: needle) == nil, "\(moment): \(file)")
                }
            }
        }
        try check("open")
        _ = try client.lock(graceSeconds: 0)
        // They are sealed with a key that is always there.
        let listed = try client.listFiles(recursive: true).entries
        #expect(listed.count == 7)
        #expect(listed.contains { $0.byteCount == size })
        try check("locked")
        daemon.kill()
        try check("killed")
        try daemon.restart()
        daemon.stop()
        try check("stopped")
    }

    // MARK: Terminals

    @Test func `names are shown on a terminal, and never interpreted`() throws {
        let (daemon, client) = try vault()
        let names = ["a\nb", "\u{1B}[31mred", "\u{9B}2J", "\u{202E}gpj", "\u{2028}", "tab\t", "it's"]
        for name in names {
            try client.makeDirectory(try ItemName("d/\(name)/below"), parents: true)
            try put(client, "f/\(name)")
        }
        try daemon.directory.write(Array(names[1].utf8), to: "name")
        let commands = [
            "coffer file list d", "coffer file list --long f", "coffer file list --recursive",
            "coffer file list --recursive --json", "coffer file stat \"f/$(cat name)\"",
            "coffer file stat \"d/$(cat name)\" --json", "coffer file stat \"no/$(cat name)\"",
            "coffer file mkdir \"d/$(cat name)\"", "coffer file remove \"d/$(cat name)\"",
            "coffer file move \"f/$(cat name)\" \"d/$(cat name)\"", "coffer file protect \"d/$(cat name)\" complete",
            "coffer lock --now; coffer file protect f none -r; coffer file protect f complete --recursive",
        ]
        for command in commands {
            let shown = try onTerminal(daemon, command).shown
            #expect(!shown.isEmpty, "\(command)")
            let obeyed = shown.unicodeScalars.filter { scalar in
                switch scalar.properties.generalCategory {
                case .control: scalar != "\r" && scalar != "\n"
                case .format, .lineSeparator, .paragraphSeparator: true
                default: false
                }
            }
            #expect(obeyed.isEmpty, "\(command): \(shown.debugDescription)")
        }
        let list = try onTerminal(daemon, "coffer file list f").shown
        #expect(list.split(separator: "\r\n").count == names.count)
        // For a program there is JSON, in which a name is what it is.
        let lines = try daemon.coffer(["file", "list", "f", "--json"]).text.split(separator: "\n")
        let read = try lines.map { line -> [UInt8] in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return Array((object?["name"] as? String ?? "").utf8)
        }
        let expected = names.map { Array("f/\($0)".utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        #expect(read == expected)
    }
}
