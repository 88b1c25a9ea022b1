import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Testing

/// The table of section 3 of the semantics, with handles of a real daemon that are held over lock, grace, unlock and restart;
/// FileOracleTests has all situations.
@Suite struct HandleOracleTests {
    private typealias Situation = OracleTests.Situation

    private static let content = pseudoRandomBytes(70_000)
    private static let added: [UInt8] = [1, 2, 3]

    /// R read existing, W write existing, N create new, O go on with a handle, by class: A, B, C, CX, D.
    private static let table: [Situation: [String]] = [
        .locked: ["", "NO", "RWNO", "RWNO", "RWNO"],
        .restarted: ["", "NO", "", "", "RWNO"],
    ]

    private func vault(_ arguments: [String] = []) throws -> DaemonProcess {
        let daemon = try DaemonProcess(arguments)
        try daemon.connect().makeVault()
        return daemon
    }

    @discardableResult
    private func make(
        _ name: String,
        _ protectionClass: ProtectionClass,
        _ client: BlockingClient,
        _ content: [UInt8] = content
    ) throws -> OpenedFile {
        let file = try client.openFile(
            try ItemName(name),
            for: .readWrite,
            [.create, .exclusive],
            protectionClass: protectionClass
        )
        try file.put(content, at: 0)
        try file.sync()
        return file
    }

    @Test(arguments: [OracleTests.Situation.locked, .restarted])
    func `files are opened, made and held as the table of section 3 says`(situation: OracleTests.Situation) throws {
        let daemon = try vault()
        let first = try daemon.connect()
        var held: [ProtectionClass: OpenedFile] = [:]
        for protectionClass in ProtectionClass.allCases {
            try make("old/\(protectionClass)", protectionClass, first).close()
            held[protectionClass] = try make("held/\(protectionClass)", protectionClass, first)
        }
        try situation.reach(daemon)
        let survives = situation != .restarted
        let client = try daemon.connect()
        for (protectionClass, letters) in zip(ProtectionClass.allCases, try #require(Self.table[situation])) {
            func expected(_ letter: Character) -> Outcome { letters.contains(letter) ? .done : .locked }
            let name = try ItemName("old/\(protectionClass)")
            var content: [UInt8] = []
            let read = try Outcome { content = try client.openFile(name).get() }
            #expect(read == expected("R"), "read \(protectionClass)")
            if read == .done { #expect(content == Self.content) }
            let write = try Outcome {
                let file = try client.openFile(name, for: .write)
                try file.put(Self.added, at: 65_535)
                try file.close()
            }
            #expect(write == expected("W"), "write \(protectionClass)")
            var made: [UInt8] = []
            let create = try Outcome {
                let file = try make("new/\(protectionClass)", protectionClass, client)
                try file.put(Self.added)
                made = try file.get()
                try file.close()
            }
            #expect(create == expected("N"), "create \(protectionClass)")
            if create == .done { #expect(made == Self.content + Self.added) }
            guard survives, let file = held[protectionClass] else { continue }
            let resume = try Outcome {
                try file.put(Self.added)
                try file.sync()
                content = try file.get()
            }
            #expect(resume == expected("O"), "go on with \(protectionClass)")
            if resume == .done { #expect(content == Self.content + Self.added) }
        }
        try client.unlock()
        for (protectionClass, letters) in zip(ProtectionClass.allCases, try #require(Self.table[situation])) {
            func content(_ folder: String) throws -> [UInt8] {
                try client.openFile(try ItemName("\(folder)/\(protectionClass)")).get()
            }
            let old = try content("old")
            var written = Self.content
            written.replaceSubrange(65_535..<65_538, with: Self.added)
            #expect(old == (letters.contains("W") ? written : Self.content), "\(protectionClass)")
            let kept = try content("held")
            let hasGoneOn = survives && letters.contains("O")
            #expect(kept == (hasGoneOn ? Self.content + Self.added : Self.content), "\(protectionClass)")
        }
    }

    // MARK: Class B

    @Test func `a file of class B that was open before a lock goes on, and is written after it`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try make("a", .completeUnlessOpen, client)
        _ = try daemon.connect().lock(graceSeconds: 0)
        try file.put(Self.added, at: 10)
        #expect(try file.get(at: 10, 3) == Self.added)
        try file.close()
        let other = try daemon.connect()
        try other.unlock()
        #expect(try other.openFile(try ItemName("a")).get(at: 10, 3) == Self.added)
    }

    // MARK: Over a lock

    @Test func `a handle of class A works through the grace and dies at its end`() throws {
        let daemon = try vault(["--grace", "2"])
        let client = try daemon.connect()
        let file = try make("a", .complete, client)
        let other = try daemon.connect()
        _ = try other.lock()
        try file.put(Self.added, at: 0)
        #expect(try file.get(at: 0, 3) == Self.added)
        let isLocked = try settles { try other.status().state == .locked }
        #expect(isLocked)
        let read = try Outcome { _ = try file.get(at: 0, 3) }
        #expect(read == .locked)
        let write = try Outcome { try file.put([9], at: 0) }
        #expect(write == .locked)
        try other.unlock()
        let dead = try Outcome { _ = try file.get(at: 0, 3) }
        #expect(dead == .locked, "an unlock does not bring it back")
        // What was written in the grace is sealed, and kept; the dead handle need not be closed for that.
        let opened = try other.openFile(try ItemName("a"))
        let content = try opened.get()
        #expect(content == Self.added + Self.content.dropFirst(3))
        try file.close()
        let writing = try Outcome { try other.openFile(try ItemName("a"), for: .write).put([9], at: 0) }
        #expect(writing == .done)
    }

    @Test func `a new writer is admitted after an unlock, although the handle that the lock ended is open`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let dead = try make("a", .complete, client)
        let other = try daemon.connect()
        _ = try other.lock(graceSeconds: 0)
        try other.unlock()
        let file = try other.openFile(try ItemName("a"), for: .readWrite)
        try file.put(Self.added, at: 0)
        try file.close()
        try dead.close()
        #expect(try other.openFile(try ItemName("a")).get() == Self.added + Self.content.dropFirst(3))
    }

    @Test func `an unlock in the grace keeps a handle alive`() throws {
        let daemon = try vault(["--grace", "1"])
        let client = try daemon.connect()
        let file = try make("a", .complete, client)
        let other = try daemon.connect()
        _ = try other.lock()
        try other.unlock()
        sleepSeconds(1.3)
        try file.put(Self.added)
        #expect(try file.get() == Self.content + Self.added)
    }

    @Test func `a handle of a class that a restart takes away is gone with the daemon, and a new one goes on`() throws {
        let daemon = try vault()
        let file = try make("a", .none, try daemon.connect())
        try daemon.restart()
        let gone = try Outcome { _ = try file.get() }
        #expect(gone == .refused(.notAvailable))
        #expect(try daemon.connect().openFile(try ItemName("a")).get() == Self.content)
    }
}
