import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// The table of section 3 of the semantics, for files by handles and by names, without a daemon.
@Suite struct FileOracleTests {
    private static let content = pseudoRandomBytes(70_000)
    private static let added: [UInt8] = [1, 2, 3]

    /// R read existing, W write existing, N create new, O go on with a handle, by class: A, B, C, CX, D.
    static let table: [TestState: [String]] = [
        .noPasscode: ["RWNO", "RWNO", "RWNO", "RWNO", "RWNO"],
        .beforeFirstUnlock: ["", "NO", "", "", "RWNO"],
        .unlocked: ["RWNO", "RWNO", "RWNO", "RWNO", "RWNO"],
        .locking: ["RWNO", "RWNO", "RWNO", "RWNO", "RWNO"],
        .locked: ["", "NO", "RWNO", "RWNO", "RWNO"],
        .lockedExpired: ["", "NO", "RWNO", "", "RWNO"],
    ]

    /// A vault without a daemon, and its files by the names of their classes.
    private struct Fixture {
        let stepper: Stepper

        init(_ state: TestState) throws {
            stepper = try Stepper(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        }

        func open(
            _ name: String,
            _ access: FileAccess = .read,
            creating protectionClass: ProtectionClass? = nil
        ) throws -> Int64 {
            let params = FileOpenParameters(
                name: try ItemName(name),
                access: access,
                creates: protectionClass != nil,
                isExclusive: protectionClass != nil,
                protectionClass: protectionClass
            )
            return try stepper.handle(params)
        }

        /// Makes a file, and leaves it open.
        func make(_ name: String, _ protectionClass: ProtectionClass, _ content: [UInt8]) throws -> Int64 {
            let handle = try open(name, .readWrite, creating: protectionClass)
            try write(content, at: 0, handle)
            try sync(handle)
            return handle
        }

        func read(_ handle: Int64) throws -> [UInt8] {
            try stepper.bytes(FileReadParameters(handle: handle, offset: 0, length: 100_000))
        }

        func write(_ bytes: [UInt8], at offset: Int64, _ handle: Int64) throws {
            try stepper.call(FileWriteParameters(handle: handle, offset: offset), payload: try SecretBytes(bytes))
        }

        func sync(_ handle: Int64) throws { try stepper.call(FileSyncParameters(handle: handle)) }
        func close(_ handle: Int64) throws { try stepper.call(FileCloseParameters(handle: handle)) }
    }

    @Test(arguments: TestState.allCases)
    func `files are opened, made and held as the table of section 3 says`(state: TestState) throws {
        let fixture = try Fixture(state)
        var held: [ProtectionClass: Int64] = [:]
        for protectionClass in ProtectionClass.allCases {
            try fixture.close(try fixture.make("old/\(protectionClass)", protectionClass, Self.content))
            held[protectionClass] = try fixture.make("held/\(protectionClass)", protectionClass, Self.content)
        }
        try fixture.stepper.reach(state)
        let survives = state != .beforeFirstUnlock
        for (protectionClass, letters) in zip(ProtectionClass.allCases, try #require(Self.table[state])) {
            func expect(_ verb: String, _ letter: Character, _ body: () throws -> Void) throws {
                let outcome = try Outcome(body)
                #expect(outcome == (letters.contains(letter) ? .done : .locked), "\(verb) \(protectionClass)")
            }
            let name = "old/\(protectionClass)"
            try expect("read", "R") {
                let content = try fixture.read(try fixture.open(name))
                #expect(content == Self.content)
            }
            try expect("write", "W") {
                let handle = try fixture.open(name, .write)
                try fixture.write(Self.added, at: 65_535, handle)
                try fixture.close(handle)
            }
            try expect("create", "N") {
                let handle = try fixture.make("new/\(protectionClass)", protectionClass, Self.content)
                try fixture.write(Self.added, at: 70_000, handle)
                let content = try fixture.read(handle)
                #expect(content == Self.content + Self.added)
                try fixture.close(handle)
            }
            guard survives, let handle = held[protectionClass] else { continue }
            try expect("go on with", "O") {
                try fixture.write(Self.added, at: 70_000, handle)
                try fixture.sync(handle)
                let content = try fixture.read(handle)
                #expect(content == Self.content + Self.added)
            }
        }
        if state != .noPasscode { try fixture.stepper.unlock() }
        for (protectionClass, letters) in zip(ProtectionClass.allCases, try #require(Self.table[state])) {
            var written = Self.content
            if letters.contains("W") { written.replaceSubrange(65_535..<65_538, with: Self.added) }
            let old = try fixture.read(try fixture.open("old/\(protectionClass)"))
            #expect(old == written, "\(protectionClass)")
            let hasGoneOn = survives && letters.contains("O")
            let kept = try fixture.read(try fixture.open("held/\(protectionClass)"))
            #expect(kept == (hasGoneOn ? Self.content + Self.added : Self.content), "\(protectionClass)")
        }
    }

    @Test(arguments: TestState.allCases)
    func `whatever is done with a handle goes on as the table of section 3 says`(state: TestState) throws {
        let fixture = try Fixture(state)
        var held: [ProtectionClass: Int64] = [:]
        for protectionClass in ProtectionClass.allCases {
            held[protectionClass] = try fixture.make("held/\(protectionClass)", protectionClass, Self.content)
        }
        try fixture.stepper.reach(state)
        for (protectionClass, letters) in zip(ProtectionClass.allCases, try #require(Self.table[state])) {
            let handle = try #require(held[protectionClass])
            let stepper = fixture.stepper
            // A handle is gone with the daemon that gave it.
            let isGone = state == .beforeFirstUnlock
            let expected: Outcome = isGone ? .refused(.param) : letters.contains("O") ? .done : .locked
            let verbs: [(String, () throws -> Void)] = [
                ("read", { _ = try fixture.read(handle) }),
                ("write", { try fixture.write(Self.added, at: 5, handle) }),
                ("truncate", { try stepper.call(FileTruncateParameters(handle: handle, byteCount: 69_000)) }),
                ("allocate", { try stepper.call(FileAllocateParameters(handle: handle, offset: 0, length: 71_000)) }),
                ("punch", { try stepper.call(FilePunchParameters(handle: handle, offset: 0, length: 65_536)) }),
                ("extent", { try stepper.call(FileExtentParameters(handle: handle, offset: 0)) }),
            ]
            for (verb, body) in verbs {
                let outcome = try Outcome(body)
                #expect(outcome == expected, "\(verb) \(protectionClass)")
            }
            let about: [(String, () throws -> Void)] = [
                // What was written before is sealed already.
                ("sync", { try fixture.sync(handle) }),
                ("stat", { try stepper.call(FileStatParameters(handle: handle)) }),
                ("close", { try fixture.close(handle) }),
            ]
            for (verb, body) in about {
                let outcome = try Outcome(body)
                #expect(outcome == (isGone ? .refused(.param) : .done), "\(verb) \(protectionClass)")
            }
        }
    }

    @Test(arguments: TestState.allCases)
    func `a file is named, moved and described in each state, and before the first unlock if it is of none`(
        state: TestState
    ) throws {
        let fixture = try Fixture(state)
        let stepper = fixture.stepper
        for protectionClass in ProtectionClass.allCases {
            try fixture.close(try fixture.make("d/\(protectionClass)", protectionClass, Self.content))
        }
        try stepper.reach(state)
        for protectionClass in ProtectionClass.allCases {
            let isNamed = state != .beforeFirstUnlock || protectionClass == .none
            let name = try ItemName("d/\(protectionClass)")
            let attribute = "user.note"
            let verbs: [(String, () throws -> Void)] = [
                ("stat", { try stepper.call(FileStatParameters(name: name)) }),
                ("set attributes", { try stepper.call(FileSetAttributesParameters(name: name, mode: 0o600)) }),
                (
                    "set extended attribute",
                    {
                        let params = FileSetExtendedAttributeParameters(name: name, attribute: attribute)
                        try stepper.call(params, payload: try SecretBytes("value".utf8))
                    }
                ),
                (
                    "get extended attribute",
                    { try stepper.call(FileGetExtendedAttributeParameters(name: name, attribute: attribute)) }
                ),
                ("list extended attributes", { try stepper.call(FileListExtendedAttributesParameters(name: name)) }),
                (
                    "remove extended attribute",
                    { try stepper.call(FileRemoveExtendedAttributeParameters(name: name, attribute: attribute)) }
                ),
                ("keep versions", { try stepper.call(FileKeepVersionsParameters(name: name, keepCount: 3)) }),
                ("versions", { try stepper.call(FileVersionsParameters(name: name)) }),
                ("move", { try stepper.moveFile(name, to: try ItemName("d/moved \(protectionClass)")) }),
            ]
            for (verb, body) in verbs {
                let outcome = try Outcome(body)
                #expect(outcome == (isNamed ? .done : .locked), "\(verb) \(protectionClass)")
            }
        }
    }

    @Test(arguments: [TestState.locked, .lockedExpired, .beforeFirstUnlock])
    func `a file of class B is made, written and kept open while locked, and not opened again`(
        state: TestState
    ) throws {
        let fixture = try Fixture(state)
        try fixture.stepper.reach(state)
        let handle = try fixture.make("recording", .completeUnlessOpen, Array(Self.content.prefix(10)))
        for access in FileAccess.allCases {
            let again = try Outcome { _ = try fixture.open("recording", access) }
            #expect(again == .locked, "\(access) while it is open")
        }
        try fixture.write(Array(Self.content.dropFirst(10)), at: 10, handle)
        #expect(try fixture.read(handle) == Self.content)
        try fixture.stepper.call(FileTruncateParameters(handle: handle, byteCount: 69_000))
        try fixture.close(handle)
        let again = try Outcome { _ = try fixture.open("recording") }
        #expect(again == .locked)
        try fixture.stepper.unlock()
        #expect(try fixture.read(try fixture.open("recording")) == Array(Self.content.prefix(69_000)))
    }
}
