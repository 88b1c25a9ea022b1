import CofferClient
import CofferCore
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// No method shows a client the items of other groups.
@Suite struct GroupTests {
    /// A server for which the test sets the identity of each connection.
    private struct Place {
        private let next: Shared<ClientIdentity>
        let server: TestServer
        let owner: BlockingClient
        let mail: BlockingClient
        let backup: BlockingClient

        init() throws {
            let person = ClientIdentity(userID: geteuid(), groupID: getegid())
            let next = Shared(person)
            self.next = next
            server = try TestServer { $0.identify = { _, _ in next.value } }
            owner = try Self.connect(to: server, as: person, next)
            try owner.makeVault()
            mail = try Self.connect(to: server, as: Self.service("mail.service"), next)
            backup = try Self.connect(to: server, as: Self.service("backup.service"), next)
        }

        private static func service(_ name: String) -> ClientIdentity {
            ClientIdentity(userID: geteuid(), groupID: getegid(), unit: "user@0.service", userUnit: name)
        }

        private static func connect(
            to server: TestServer,
            as client: ClientIdentity,
            _ next: Shared<ClientIdentity>
        ) throws -> BlockingClient {
            next.value = client
            let connection = try server.connect()
            // The answer shows that the connection was admitted.
            _ = try connection.status()
            return connection
        }
    }

    private static func code(_ body: () throws -> Void) throws -> ErrorCode? {
        do {
            try body()
            return nil
        } catch let error as CofferError {
            return error.code
        }
    }

    /// The methods that must not find an item of another group.
    private static let attempts: [CofferWire.Method] = [
        .itemGet, .itemShow, .itemRemove, .itemMove, .itemProtect, .fileStat, .fileOpen, .fileRemove, .fileSalvage,
        .keychainFind, .keychainDelete, .keychainUpdate, .keychainHistory,
    ]

    private static func attempt(_ method: CofferWire.Method, on path: String, by client: BlockingClient) throws {
        let name = try ItemName(path)
        let everything = KeychainQuery(.genericPassword)
        switch method {
        case .itemGet: _ = try client.get(path)
        case .itemShow: _ = try client.show(name)
        case .itemRemove: try client.remove(name)
        case .itemMove: try client.move(name, to: try ItemName("taken"))
        case .itemProtect: _ = try client.protect(name, as: .keychain(.always))
        case .fileStat: _ = try client.fileInfo(name)
        case .fileOpen: _ = try client.openFile(name)
        case .fileRemove: try client.removeFile(name)
        case .fileSalvage: _ = try client.salvage(name, into: 1)
        case .keychainFind: _ = try client.find(everything)
        case .keychainDelete: _ = try client.deleteKeychainItems(everything)
        case .keychainUpdate:
            try client.update(everything, KeychainChange(attributes: [.label: .text("a")]))
        default: _ = try client.keychainHistory(of: everything)
        }
    }

    @Test func `a service finds nothing of the owner's by any method, and the owner nothing of a service's`() throws {
        let place = try Place()
        try place.owner.put("site/token", [1])
        try place.owner.put("report.pdf", [2]) { $0.kind = .database }
        for method in Self.attempts {
            for name in ["site/token", "report.pdf"] {
                let code = try Self.code { try Self.attempt(method, on: name, by: place.mail) }
                #expect(code == .itemNotFound, "\(method) \(name)")
            }
        }
        let listed = try place.mail.list().items.map(\.name)
        #expect(listed.isEmpty)
        let files = try place.mail.listFiles().entries.map(\.name)
        #expect(files.isEmpty)
        #expect(try place.owner.get("site/token") == [1])
        #expect(try place.owner.get("report.pdf") == [2])

        try place.mail.put("imap/password", [3])
        let code = try Self.code { _ = try place.owner.get("imap/password") }
        #expect(code == .itemNotFound)
        #expect(try place.mail.get("imap/password") == [3])
    }

    @Test func `one name is one item in each group`() throws {
        let place = try Place()
        for (number, client) in [place.owner, place.mail, place.backup].enumerated() {
            try client.put("a/b", [UInt8(number)])
            try client.put("c/d", [UInt8(number)]) { $0.kind = .database }
        }
        try place.mail.remove(try ItemName("a/b"))
        try place.mail.removeFile(try ItemName("c"), recursive: true)
        for (number, client) in [(0, place.owner), (2, place.backup)] {
            #expect(try client.get("a/b") == [UInt8(number)])
            #expect(try client.get("c/d") == [UInt8(number)])
        }
    }

    @Test func `a group that is not held can't be named, and a reference from it leads nowhere`() throws {
        let place = try Place()
        let attributes: [KeychainAttribute: AttributeValue] = [.service: .text("s"), .account: .text("a")]
        let reference = try place.owner.add(.genericPassword, attributes, [1])
        for group in ["default", "user-unit:backup.service", ""] {
            let put = try Self.code { try place.mail.put("x", [1]) { $0.group = group } }
            #expect(put == .missingEntitlement, "\(group)")
            let query = KeychainQuery(.genericPassword, [.accessGroup: .text(group)])
            let found = try Self.code { _ = try place.mail.find(query, returns: [.attributes]) }
            #expect(found == .missingEntitlement, "\(group)")
        }
        let query = KeychainQuery(reference: reference)
        let codes = [
            try Self.code { _ = try place.mail.find(query, returns: [.attributes]) },
            try Self.code { try place.mail.update(query, KeychainChange(attributes: [.label: .text("mine")])) },
            try Self.code { _ = try place.mail.deleteKeychainItems(query) },
        ]
        #expect(codes == Array(repeating: .itemNotFound, count: 3))
    }

    @Test func `what a service adds can't be moved into a group that it does not hold`() throws {
        let place = try Place()
        try place.mail.put("a/b", [1])
        let change = KeychainChange(attributes: [.accessGroup: .text("default")])
        let code = try Self.code { try place.mail.update(KeychainQuery(.genericPassword), change) }
        #expect(code == .missingEntitlement)
        #expect(try place.mail.get("a/b") == [1])
    }

    @Test func `a service may not do what concerns the vault as a whole, and is told why`() throws {
        let place = try Place()
        let vaultID = try #require(try place.mail.status().vaultID)
        let codes = [
            try Self.code { _ = try place.mail.lock(graceSeconds: 0) },
            try Self.code { try place.mail.unlock() },
            try Self.code { try place.mail.erase(vaultID: vaultID) },
            try Self.code { _ = try place.mail.keyslots() },
        ]
        #expect(codes == Array(repeating: .missingEntitlement, count: 4))
        #expect(try place.owner.status().state == .unlocked)
        #expect(try place.owner.status().failedAttempts == 0)
    }

    @Test func `one who finds nothing is told where was looked`() throws {
        let place = try Place()
        var hints: [String?] = []
        for client in [place.mail, place.owner] {
            do throws(CofferError) {
                _ = try client.show(try ItemName("a"))
            } catch {
                hints.append(error.hint)
            }
        }
        #expect(hints[0]?.contains("you see 'user-unit:mail.service' only; ") == true)
        #expect(hints[0]?.hasSuffix("'coffer allow user-unit mail.service read --item NAME'") == true)
        #expect(hints[1]?.contains("you see") == false)
    }

    @Test func `one who watches is told of its own groups`() throws {
        let place = try Place()
        try place.mail.watch([.items])
        try place.owner.put("theirs", [1])
        try place.backup.put("others", [1])
        try place.mail.put("mine", [1])
        guard case .itemsDidChange(let changes) = try place.mail.nextEvent() else {
            Issue.record("another event came")
            return
        }
        #expect(changes.map(\.name) == ["mine"])
    }

    @Test func `one who may name every group is told of all if it asks for that, and nobody else is`() throws {
        let place = try Place()
        let refused = try Self.code { try place.mail.watch([.items], in: "*") }
        #expect(refused == .missingEntitlement)
        try place.owner.watch([.items], in: "*")
        try place.mail.put("theirs", [1])
        try place.backup.put("others", [1]) { $0.kind = .database }
        var told: [String] = []
        while told.count < 2 {
            guard case .itemsDidChange(let changes) = try place.owner.nextEvent() else {
                Issue.record("another event came")
                return
            }
            told += changes.map { "\($0.group) \($0.name ?? "")" }
        }
        #expect(told == ["user-unit:mail.service theirs", "user-unit:backup.service others"])
        try place.owner.watch([.items])
        try place.mail.put("more", [1])
        try place.owner.put("mine", [1])
        guard case .itemsDidChange(let changes) = try place.owner.nextEvent() else {
            Issue.record("another event came")
            return
        }
        #expect(changes.map(\.name) == ["mine"], "without a group, it is told of its own")
    }

    @Test func `who can't be told apart is not let in`() throws {
        let server = try TestServer { $0.identify = { _, _ in throw CofferError(.io, "can't read the cgroup") } }
        let code = try Self.code { _ = try server.connect().status() }
        #expect(code == .io)
    }
}
