import CofferClient
import CofferCore
import CofferMemory
import CofferService
import CofferSystem
import CofferTestSupport
import CofferVault
import CofferWire
import Foundation
import Testing

/// The events of clients that watch items.
@Suite struct ItemEventTests {
    /// A request that changes items, its preparation, and its events.
    struct Case: Sendable, CustomTestStringConvertible {
        let method: CofferWire.Method
        var params: JSONObject = [:]
        var payload: [UInt8] = []
        var before: @Sendable (BlockingClient) throws -> Void = { _ in }
        let told: [String]

        var testDescription: String { "\(method.rawValue) \(told.joined(separator: ", "))" }
    }

    private static let passcode = Array(DaemonProcess.passcode.utf8)
    private static let key: @Sendable (BlockingClient) throws -> Void = { try $0.put("k", [1]) }
    private static let file: @Sendable (BlockingClient) throws -> Void = { try $0.put("f", [1]) { $0.store = .file } }
    private static let labelled: @Sendable (BlockingClient) throws -> Void = { client in
        try file(client)
        let params = FileSetExtendedAttributeParameters(name: try ItemName("f"), attribute: "user.a")
        let value: [UInt8] = [1]
        try client.call(params, payload: Secret(copying: value.span.bytes))
    }
    private static let versions: @Sendable (BlockingClient) throws -> Void = { client in
        try file(client)
        try client.call(FileKeepVersionsParameters(name: try ItemName("f"), keepCount: 3))
        try client.put("f", [2])
    }
    private static let tree: @Sendable (BlockingClient) throws -> Void = { client in
        for name in ["d/e", "d/f/g"] { try client.put(name, [1]) { $0.store = .file } }
    }

    static let cases: [Case] = [
        Case(method: .itemPut, params: ["name": "k"], payload: [1], told: ["added keychain k"]),
        Case(method: .itemPut, params: ["name": "k"], payload: [1], before: key, told: ["changed keychain k"]),
        Case(method: .itemPut, params: ["name": "f", "store": "file"], payload: [1], told: ["added file f"]),
        Case(method: .itemPut, params: ["name": "f"], payload: [1], before: file, told: ["changed file f"]),
        Case(
            method: .itemPut,
            params: ["name": "f", "store": "keychain"],
            payload: [1],
            before: file,
            told: ["changed keychain f"]
        ),
        Case(
            method: .itemProtect,
            params: ["name": "f", "store": "keychain"],
            before: file,
            told: ["changed keychain f"]
        ),
        Case(method: .itemProtect, params: ["name": "k", "store": "file"], before: key, told: ["changed file k"]),
        Case(
            method: .itemPut,
            params: ["name": "k", "store": "file"],
            payload: [1],
            before: key,
            told: ["changed file k"]
        ),
        Case(method: .itemRemove, params: ["name": "k"], before: key, told: ["removed keychain k"]),
        Case(method: .itemRemove, params: ["name": "f"], before: file, told: ["removed file f"]),
        Case(method: .itemMove, params: ["name": "k", "to": "l"], before: key, told: ["renamed keychain l from k"]),
        Case(method: .itemMove, params: ["name": "f", "to": "d/g"], before: file, told: ["renamed file d/g from f"]),
        Case(method: .itemMove, params: ["name": "f", "to": "f"], before: file, told: []),
        Case(
            method: .itemProtect,
            params: ["name": "k", "accessible": "Always"],
            before: key,
            told: ["changed keychain k"]
        ),
        Case(method: .itemProtect, params: ["name": "f", "class": "none"], before: file, told: ["changed file f"]),
        Case(
            method: .itemProtect,
            params: ["name": "f", "class": "completeUntilFirstUserAuthentication"],
            before: file,
            told: []
        ),
        Case(
            method: .fileOpen,
            params: ["name": "d/n", "access": "write", "create": true],
            told: ["added file d/n"]
        ),
        Case(method: .fileOpen, params: ["name": "f"], before: file, told: []),
        Case(method: .fileMkdir, params: ["name": "d"], told: ["added file d"]),
        Case(method: .fileRename, params: ["name": "d", "to": "c"], before: tree, told: ["renamed file c from d"]),
        Case(method: .fileRemove, params: ["name": "f"], before: file, told: ["removed file f"]),
        Case(method: .fileRemove, params: ["name": "d", "recursive": true], before: tree, told: ["removed file d"]),
        Case(method: .fileProtect, params: ["name": "f", "class": "none"], before: file, told: ["changed file f"]),
        Case(
            method: .fileProtect,
            params: ["name": "d", "class": "none", "recursive": true],
            before: tree,
            told: ["changed file d", "changed file d/e", "changed file d/f/g"]
        ),
        Case(method: .fileLink, params: ["name": "f", "to": "g"], before: file, told: ["added file g"]),
        Case(
            method: .fileKeepVersions,
            params: ["name": "d", "keep": 1],
            before: tree,
            told: ["changed file d"]
        ),
        Case(
            method: .fileRestore,
            params: ["name": "f", "version": 1],
            before: versions,
            told: ["changed file f"]
        ),
        Case(method: .fileRemoveVersions, params: ["name": "f"], before: versions, told: ["changed file f"]),
        Case(method: .fileSymlink, params: ["name": "g", "target": "f"], told: ["added file g"]),
        Case(method: .fileSetAttributes, params: ["name": "f", "mode": 384], before: file, told: ["changed file f"]),
        Case(
            method: .fileSetExtendedAttribute,
            params: ["name": "f", "attribute": "user.a"],
            payload: [1],
            before: file,
            told: ["changed file f"]
        ),
        Case(
            method: .fileRemoveExtendedAttribute,
            params: ["name": "f", "attribute": "user.a"],
            before: labelled,
            told: ["changed file f"]
        ),
        Case(
            method: .keychainAdd,
            params: ["class": "internetPassword", "attributes": ["server": "a"]],
            payload: [1],
            told: ["added keychain login:a"]
        ),
        Case(
            method: .keychainUpdate,
            params: ["class": "genericPassword", "set": ["attributes": ["comment": "c"]], "all": true],
            before: key,
            told: ["changed keychain k"]
        ),
        Case(
            method: .keychainUpdate,
            params: ["class": "genericPassword", "set": ["attributes": ["account": "l"]], "all": true],
            before: key,
            told: ["renamed keychain l from k"]
        ),
        Case(
            method: .keychainDelete,
            params: ["class": "genericPassword", "all": true],
            before: { client in for name in ["k", "l"] { try client.put(name, [1]) } },
            told: ["removed keychain k", "removed keychain l"]
        ),
        Case(
            method: .keychainRestore,
            params: ["class": "genericPassword", "number": 1],
            before: { client in for value in 1...2 { try client.put("k", [UInt8(value)]) } },
            told: ["changed keychain k"]
        ),
        Case(
            method: .passcodeRemove,
            params: ["destroys": 1],
            payload: passcode,
            before: { try $0.put("k", [1]) { $0.accessibility = .whenPasscodeSetThisDeviceOnly } },
            told: ["missed 1"]
        ),
    ]

    private static func words(_ event: VaultEvent) -> [String] {
        switch event {
        case .itemsDidChange(let changes):
            changes.map { change in
                let name = change.name ?? change.itemClass?.rawValue ?? ""
                let former = change.formerName.map { " from \($0)" } ?? ""
                return "\(change.kind.rawValue) \(change.store.rawValue) \(name)\(former)"
            }
        case .eventsMissed(let count): ["missed \(count)"]
        case .attemptDidFail(let attempts): ["attempt \(attempts.count)"]
        case .auditDidGrow(let records): records.map { "audit \($0.action)" }
        default: []
        }
    }

    private func watch(_ server: TestServer, _ params: JSONObject = ["items": true]) throws -> RawConnection {
        var watcher = try RawConnection(server)
        try watcher.send(.vaultWatch, params)
        let refused = try watcher.refusal()
        #expect(refused == nil)
        return watcher
    }

    @Test(arguments: cases)
    func `a change is told as what it is`(example: Case) throws {
        // The clock stands, so that a tree is removed in one turn: another test has several.
        let server = try TestServer(clock: ManualClock().clock)
        let client = try server.connect()
        try client.makeVault()
        try example.before(client)
        var watcher = try watch(server)
        var raw = try RawConnection(server)
        try raw.send(example.method, example.params, payload: example.payload)
        let refused = try raw.refusal()
        #expect(refused == nil)
        let events = try watcher.eventsUntilAnswer()
        #expect(events.flatMap(Self.words).sorted() == example.told.sorted())
        for case .itemsDidChange(let changes) in events {
            #expect(changes.allSatisfy { $0.group == "default" })
            #expect(changes.allSatisfy { ($0.reference != nil) == ($0.store == .keychain) })
        }
    }

    @Test func `a removal that takes several turns tells how many entries are gone, and at the end what is`() throws {
        let clock = ManualClock()
        let server = try TestServer(clock: clock.clock)
        let client = try server.connect()
        try client.makeVault()
        try Self.tree(client)
        var watcher = try watch(server)
        // Each entry takes as long as a turn may.
        clock.tick(by: 0.01)
        #expect(try client.removeFile(try ItemName("d"), recursive: true) == 4)
        var told = try watcher.eventsUntilAnswer().flatMap(Self.words)
        let last = told.popLast()
        #expect(last == "removed file d")
        let counts = told.map { $0.hasPrefix("missed ") ? Int($0.dropFirst("missed ".count)) : nil }
        #expect(!counts.isEmpty && !counts.contains(nil), "\(told)")
        #expect((1...4).contains(counts.compactMap(\.self).reduce(0, +)), "\(told)")
    }

    @Test func `an item that expires is told to those who watch its group, once`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        let (watcher, stranger) = (try server.connect(), try server.connect())
        func put(_ name: JSONValue, expiring date: Int64) throws {
            var raw = try RawConnection(server)
            let attributes: JSONObject = ["expiryDate": .integer(date)]
            try raw.send(.itemPut, ["name": name, "attributes": .object(attributes)], payload: [1])
            let refused = try raw.refusal()
            #expect(refused == nil)
        }
        try watcher.watch(.items)
        try stranger.watch(.items, in: "other")
        let later = wallClockMilliseconds() + 300
        try put("b", expiring: later)
        try put("c", expiring: .max)
        var told: [String] = []
        while told.count < 3, let event = try watcher.nextEvent(until: .now + .seconds(60)) {
            told += Self.words(event)
        }
        #expect(told == ["added keychain b", "added keychain c", "expired keychain b"])
        #expect(wallClockMilliseconds() > later)
        #expect(try watcher.nextEvent(until: .now + .milliseconds(100)) == nil)
        #expect(try stranger.nextEvent(until: .now) == nil)
    }

    @Test func `a file is told of that has expired, by the date of a put or an extended attribute`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        try client.put("set", [1]) { $0.store = .file }
        let watcher = try server.connect()
        try watcher.watch(.items)
        var raw = try RawConnection(server)
        // Far enough from now that the watch has searched all items before they are stored.
        let date = wallClockMilliseconds() + 1500
        try raw.send(
            .itemPut,
            ["name": "put", "store": "file", "attributes": ["expiryDate": .integer(date)]],
            payload: [1]
        )
        #expect(try raw.refusal() == nil)
        let params = FileSetExtendedAttributeParameters(
            name: try ItemName("set"),
            attribute: "user.coffer.expiryDate"
        )
        _ = try client.call(params, payload: try SecretBytes(Array(String(date).utf8)))
        var expired: [String] = []
        while expired.count < 2, let event = try watcher.nextEvent(until: .now + .seconds(60)) {
            expired += Self.words(event).filter { $0.hasPrefix("expired") }
        }
        #expect(expired.sorted() == ["expired file put", "expired file set"])
    }

    @Test func `every method that changes items by name or query has its case`() {
        let changing = CofferWire.Method.allCases.filter { method in
            if case .changing(let subject) = RequestScope(of: method, ["name": "a", "handle": 1]) {
                return subject != .handle(1)
            }
            return false
        }
        let tested = Set(Self.cases.map(\.method))
        // Repairs, which move damaged rows, and the trash have tests of their own. A sync of the tree tells what was changed before it.
        // A mount changes nothing itself, and the kernel's operations in it have tests of their own.
        let others: Set<CofferWire.Method> = [
            .vaultCheck, .vaultQuarantine, .accessAllow, .accessDeny, .accessRemove,
            .fileSyncTree, .backupRegister, .backupEnd, .trashEmpty, .trashRestore, .mountServe,
        ]
        #expect(Set(changing).subtracting(tested) == others)
    }

    @Test func `what is written through a handle is told when it is kept, under the name that the file has then`()
        throws
    {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        let file = try client.openFile(try ItemName("f"), for: .write, .create)
        var watcher = try watch(server)
        try file.put([1, 2, 3])
        let early = try watcher.eventsUntilAnswer()
        #expect(early == [])
        _ = try client.move(try ItemName("f"), to: try ItemName("d/g"))
        try file.sync()
        let late = try watcher.eventsUntilAnswer()
        #expect(late.flatMap(Self.words) == ["renamed file d/g from f", "changed file d/g"])
        try file.close()
        let closed = try watcher.eventsUntilAnswer()
        #expect(closed == [])
    }

    @Test func `what was refused is not told`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        try client.put("k", [1])
        var watcher = try watch(server)
        var raw = try RawConnection(server)
        let refusals: [(CofferWire.Method, JSONObject)] = [
            (.itemMove, ["name": "nobody", "to": "k"]),
            (.keychainUpdate, ["class": "key", "set": ["history": 0], "all": true]),
            (.fileMkdir, ["name": "k"]), (.fileRemove, ["name": "nobody"]),
        ]
        for (method, params) in refusals {
            try raw.send(method, params)
            let refused = try raw.refusal()
            #expect(refused != nil, "\(method)")
        }
        let some = try watcher.eventsUntilAnswer()
        #expect(some == [])
    }

    @Test func `who asked for nothing but locks is told of nothing else, and the other way round`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        var plain = try watch(server, [:])
        var attempts = try watch(server, ["attempts": true])
        try client.put("k", [1])
        let refused = try Outcome { try client.unlock("wrong") }
        #expect(refused == .refused(.authFailed))
        let none = try plain.eventsUntilAnswer()
        #expect(none == [])
        let one = try attempts.eventsUntilAnswer()
        #expect(one.flatMap(Self.words) == ["attempt 1"])
    }

    @Test func `a wrong passcode is told wherever it is shown`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        var watcher = try watch(server, ["attempts": true])
        let wrong = Array("wrong".utf8)
        var raw = try RawConnection(server)
        let shows: [(CofferWire.Method, JSONObject)] = [
            (.vaultUnlock, [:]), (.slotTest, ["credential": "passcode"]), (.contextAuthenticate, [:]),
        ]
        for (method, params) in shows {
            try raw.send(method, params, payload: wrong)
            let refused = try raw.refusal()
            #expect(refused == .authFailed)
        }
        let events = try watcher.eventsUntilAnswer()
        // The same wrong passcode is counted once.
        #expect(events.flatMap(Self.words) == ["attempt 1", "attempt 1", "attempt 1"])
    }

    @Test func `a turn with more changes than are told one by one says how many others there were`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        let count = Limits.toldChanges + 100
        for number in 0..<count { try client.put("k\(number)", [1]) }
        var watcher = try watch(server)
        var raw = try RawConnection(server)
        try raw.send(.keychainDelete, ["class": "genericPassword", "all": true])
        let refused = try raw.refusal()
        #expect(refused == nil)
        let events = try watcher.eventsUntilAnswer()
        #expect(events.last == .eventsMissed(100))
        #expect(events.flatMap(Self.words).count == Limits.toldChanges + 1)
    }
}
