import CofferCore
import CofferFiles
import CofferSystem
import CofferTestSupport
import Testing

/// What is logged while the names of files can't be read.
@Suite struct UnsyncedLogStateTests {
    private let vault: Vault

    init() throws { vault = try Vault() }

    private func open(_ state: TestState) throws -> OpenStore {
        let open = try OpenStore(vault, try vault.open(state))
        try open.store.recover()
        return open
    }

    /// Unlocks the vault, as far as the store is concerned.
    private func unlock(_ open: OpenStore) throws {
        try open.keys.unlock()
        try open.store.openFiles.recordWaiting()
        open.store.settleDurably()
    }

    private func write(_ byte: UInt8, _ name: String, _ open: OpenStore) throws {
        try open.write([byte], at: 0, to: try open.open(name, for: .write), isLogged: true)
    }

    @Test func `it waits for the first unlock, except that of files whose names the passcode does not protect`() throws
    {
        do {
            let open = try open(.unlocked)
            open.close(try open.create("c", .completeUntilFirstUserAuthentication))
            open.close(try open.create("none", .none))
            try write(1, "c", open)
            try write(2, "none", open)
        }
        for _ in 0..<2 {
            let open = try open(.beforeFirstUnlock)
            #expect(try open.contents("none") == [2])
            #expect(code { _ = try open.find("c") } == .interactionNotAllowed)
            #expect(open.store.openFiles.hasWaiting)
        }
        let open = try open(.beforeFirstUnlock)
        try unlock(open)
        #expect(try open.contents("c") == [1])
        #expect(!open.store.openFiles.hasWaiting)
        #expect(open.store.openFiles.losses == [])
    }

    @Test func `what is logged before the unlock comes behind what waits for it`() throws {
        do {
            let open = try open(.unlocked)
            open.close(try open.create("c", .completeUntilFirstUserAuthentication))
            try write(1, "c", open)
        }
        do {
            let open = try open(.beforeFirstUnlock)
            let file = try open.create("none", .none)
            for byte in UInt8(1)...3 {
                try open.write([byte], at: 0, to: file, isLogged: true)
                if byte == 2 { try open.sync(file) }
            }
            open.close(try open.create("b", .completeUnlessOpen))
            let b = try open.create("b2", .completeUnlessOpen)
            try open.write([4], at: 0, to: b, isLogged: true)
            open.close(b)
            let again = try open.create("b3", .completeUnlessOpen)
            try open.write([5], at: 0, to: again, isLogged: true)
        }
        let open = try open(.beforeFirstUnlock)
        #expect(try open.contents("none") == [3])
        try unlock(open)
        #expect(try open.contents("c") == [1])
        #expect(try open.contents("b2") == [])
        #expect(try open.contents("b3") == [5])
        #expect(open.store.openFiles.losses == [])
    }

    @Test func `a file that could not be recorded is not opened, and is recorded by the next unlock`() throws {
        do {
            let open = try open(.unlocked)
            try open.put("c", pattern(10), .completeUntilFirstUserAuthentication)
            try write(1, "c", open)
        }
        let open = try open(.beforeFirstUnlock)
        try open.keys.unlock()
        #expect(code { _ = try open.open("c") } == .notAvailable)
        #expect(code { _ = try open.read("c") } == .notAvailable)
        try open.store.openFiles.recordWaiting()
        open.store.abandon(isCertain: true)
        #expect(code { _ = try open.open("c") } == .notAvailable)
        try open.store.openFiles.recordWaiting()
        #expect(try open.contents("c") == [1] + pattern(10).dropFirst(), "it is in the transaction")
        open.store.settleDurably()
        #expect(try open.contents("c") == [1] + pattern(10).dropFirst())
    }
}
