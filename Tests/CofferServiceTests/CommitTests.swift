import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// An answer waits for the commit of the changes that it reports, and for no other.
///
/// The clock of the servers stands, so that no quantum ends a turn in between.
@Suite struct CommitTests {
    private static let mail = HeldServer.service("mail")
    private static let backup = HeldServer.service("backup")
    private static let entitlements = """
        [Client]
        UserUnit=mail.service
        Groups=common
        Verbs=read write delete
        [Client]
        UserUnit=backup.service
        Groups=common
        Verbs=read write
        """

    /// Blocks the server after a commit, before it sends the answers that wait for it.
    private final class Gate: Sendable {
        private let reached = DispatchSemaphore(value: 0)
        private let release = DispatchSemaphore(value: 0)
        private let isClosed = Shared(false)

        func close() { isClosed.value = true }

        func pass() {
            guard isClosed.value else { return }
            isClosed.value = false
            reached.signal()
            release.wait()
        }

        func whileReached(_ body: () throws -> Void) rethrows {
            reached.wait()
            defer { release.signal() }
            try body()
        }
    }

    @Test(arguments: [CofferWire.Method.itemGet, .itemShow])
    func `who asks for what nobody changes does not wait for a commit of others`(method: CofferWire.Method) throws {
        let gate = Gate()
        let place = try HeldServer(entitlements: Self.entitlements, clock: ManualClock().clock) { _ in gate.pass() }
        try place.connect().makeVault()
        let setup = try place.connect(as: Self.mail)
        for name in ["kept", "changed"] { try setup.put("s/\(name)", [1]) }
        let busy = try (0..<4).map { _ in RawBox(try place.connectRaw(as: Self.mail)) }
        let quiet = RawBox(try place.connectRaw(as: Self.backup))
        try place.whileHeld(mailComesFirst: setup) {
            gate.close()
            for connection in busy { try connection.raw.change("changed") }
            try quiet.raw.send(method, ["name": "s/kept"])
        }
        try gate.whileReached {
            #expect(becomesTrue { quiet.hasArrival })
            let refusal = try quiet.raw.refusal()
            #expect(refusal == nil)
            for connection in busy { #expect(!connection.hasArrival) }
        }
        for connection in busy { #expect(try connection.raw.refusal() == nil) }
    }

    /// A read and the pending change that it meets.
    private struct Question: CustomTestStringConvertible {
        let method: CofferWire.Method
        var name: String?
        let change: CofferWire.Method
        var refusal: ErrorCode?
        let testDescription: String
    }

    private static let questions = [
        Question(
            method: .itemGet,
            name: "s/one",
            change: .keychainUpdate,
            testDescription: "a secret that is being changed"
        ),
        Question(method: .itemShow, name: "s/one", change: .keychainUpdate, testDescription: "what is said of it"),
        Question(
            method: .itemGet,
            name: "s/new",
            change: .keychainAdd,
            refusal: .itemNotFound,
            testDescription: "one that is being added"
        ),
        Question(
            method: .itemGet,
            name: "s/one",
            change: .keychainDelete,
            testDescription: "one that is being removed"
        ),
        Question(
            method: .itemGet,
            name: "s/r\u{e9}sum\u{e9}",
            change: .keychainUpdate,
            refusal: .itemNotFound,
            testDescription: "a name of the same look, and of other bytes"
        ),
        Question(method: .itemList, change: .keychainAdd, testDescription: "a list of all"),
    ]

    @Test(arguments: questions)
    private func `who asks in the same turn for what others change is answered before them, with what was there`(
        question: Question
    ) throws {
        let gate = Gate()
        let place = try HeldServer(entitlements: Self.entitlements, clock: ManualClock().clock) { _ in gate.pass() }
        try place.connect().makeVault()
        let setup = try place.connect(as: Self.mail)
        for name in ["one", "re\u{301}sume\u{301}"] { try setup.put("s/\(name)", [1]) }
        let busy = RawBox(try place.connectRaw(as: Self.mail))
        let quiet = RawBox(try place.connectRaw(as: Self.backup))
        try place.whileHeld(mailComesFirst: setup) {
            gate.close()
            try busy.raw.change(question.change == .keychainAdd ? "new" : "one", by: question.change)
            try quiet.raw.send(question.method, question.name.map { ["name": .string($0)] } ?? [:])
        }
        try gate.whileReached {
            #expect(becomesTrue { quiet.hasArrival })
            let refusal = try quiet.raw.refusal()
            #expect(refusal == question.refusal)
            #expect(!busy.hasArrival)
        }
        #expect(try busy.raw.refusal() == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a disk that is full so soon"))
    func `whose change is undone gets the error, and who reads what it was to change gets what is there`() throws {
        let directory = try TemporaryDirectory()
        let state = directory.appending("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        let mounted = try runCommand("/bin/mount", ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", state])
        try #require(mounted.status == 0, "\(mounted.errors)")
        defer { _ = try? runCommand("/bin/umount", ["--lazy", state]) }
        let place = try HeldServer(in: directory, entitlements: Self.entitlements, clock: ManualClock().clock)
        let owner = try place.connect()
        try owner.makeVault(passcode: nil)
        let setup = try place.connect(as: Self.mail)
        for name in ["kept", "changed"] { try setup.put("s/\(name)", [1]) }
        try CatalogLog.cut(in: state)
        let filler = URL(filePath: "\(state)/filler")
        try Data().write(to: filler)
        let handle = try FileHandle(forWritingTo: filler)
        while (try? handle.write(contentsOf: Data(count: 4096))) != nil {}
        let busy = try (0..<2).map { _ in RawBox(try place.connectRaw(as: Self.mail)) }
        let quiet = try (0..<2).map { _ in RawBox(try place.connectRaw(as: Self.backup)) }
        try place.whileHeld(mailComesFirst: setup) {
            for connection in busy {
                try connection.raw.change("changed", payload: pseudoRandomBytes(Limits.secretBytes))
            }
            try quiet[0].raw.send(.itemGet, ["name": "s/kept"])
            try quiet[1].raw.send(.itemGet, ["name": "s/changed"])
        }
        #expect(try quiet.map { try $0.raw.refusal() } == [nil, nil])
        #expect(try busy.map { try $0.raw.refusal() } == [.diskFull, .diskFull])
        try handle.close()
        try FileManager.default.removeItem(at: filler)
        #expect(try setup.get("s/changed") == [1])
        let records = try owner.auditRecords(AuditQuery(), after: 0).records
        let told = records.filter { $0.client?.userUnit == "backup.service" }
        #expect(
            Set(told.map { [$0.items.first?.name, $0.refusal?.code.rawValue] }) == [
                ["s/kept", nil], ["s/changed", nil],
            ]
        )
    }
}

extension HeldServer {
    /// Like ``whileHeld(_:)``, but mail is served first: the identity with the latest request precedes the
    /// others.
    fileprivate func whileHeld(mailComesFirst mail: BlockingClient, _ body: () throws -> Void) throws {
        _ = try mail.status()
        try whileHeld(body)
    }
}

extension RawConnection {
    /// Sends a change of a secret of the service `s`.
    fileprivate mutating func change(
        _ account: String,
        by method: CofferWire.Method = .keychainUpdate,
        payload: [UInt8] = [2]
    ) throws {
        let attributes: JSONValue = ["service": "s", "account": .string(account)]
        try send(
            method,
            ["class": "genericPassword", "attributes": attributes],
            payload: method == .keychainDelete ? [] : payload
        )
    }
}
