import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The predictions of `item.explain`, compared with the results.
@Suite struct ExplainTests {
    /// A vault with an item of every protection.
    private struct Vault {
        static let protections =
            ProtectionClass.allCases.map { Protection.file($0) }
            + Accessibility.allCases.map { Protection.keychain($0) }

        let clock = ManualClock()
        let server: TestServer
        let client: BlockingClient

        init() throws {
            server = try TestServer(clock: clock.clock)
            client = try server.connect()
            try client.makeVault()
            for protection in Self.protections { try put(protection, under: protection.name) }
        }

        func put(_ protection: Protection, under name: String) throws {
            try client.put(name, [7]) { wishes in
                wishes.store = protection.store
                switch protection {
                case .file(let protectionClass): wishes.protectionClass = protectionClass
                case .keychain(let accessibility): wishes.accessibility = accessibility
                }
            }
        }

        func explain(_ name: String, in state: VaultState? = nil, as client: ClientPattern? = nil) throws -> Explanation
        {
            try self.client.explain(
                ItemExplainParameters(
                    name: try ItemName(name),
                    byteCount: 1,
                    state: state,
                    client: client,
                    wishes: PlacementOptions()
                )
            )
        }

        func bring(to state: VaultState) throws {
            switch state {
            case .unlocked: try client.unlock()
            case .locking: _ = try client.lock(graceSeconds: 10)
            case .locked: _ = try client.lock(graceSeconds: 0)
            case .lockedExpired:
                _ = try client.lock(graceSeconds: 0)
                clock.advance(by: 600)
            default:
                _ = try client.lock(graceSeconds: 0)
                clock.advance(by: 259_200)
            }
            let present = try client.status().state
            try #require(present == state)
        }
    }

    private static func answer(_ body: () throws -> Void) throws -> ItemAccess.Answer {
        do {
            try body()
            return .yes
        } catch let error as CofferError {
            return .no(error.code)
        }
    }

    @Test(arguments: [VaultState.unlocked, .locking, .locked, .lockedExpired, .beforeFirstUnlock])
    func `what is said of a state comes true in it`(state: VaultState) throws {
        let vault = try Vault()
        let promised = try Vault.protections.map { try vault.explain($0.name, in: state) }
        #expect(try vault.client.status().state == .unlocked)
        try vault.bring(to: state)
        for (protection, promise) in zip(Vault.protections, promised) {
            let name = protection.name
            #expect(promise.access.state == state)
            #expect(promise.access == (try vault.explain(name).access))
            let read = try Self.answer { _ = try vault.client.get(name) }
            #expect(promise.access.read == read, "\(name)")
            let write = try Self.answer { try vault.put(protection, under: name) }
            #expect(promise.access.write == write, "\(name)")
            let remove = try Self.answer { try vault.client.remove(try ItemName(name)) }
            #expect(promise.access.remove == remove, "\(name)")
        }
    }

    @Test(arguments: [VaultState.locked, .lockedExpired, .beforeFirstUnlock])
    func `what is said of something that is not stored comes true as well`(state: VaultState) throws {
        let vault = try Vault()
        try vault.bring(to: state)
        for protection in Vault.protections {
            var wishes = PlacementOptions()
            wishes.store = protection.store
            switch protection {
            case .file(let protectionClass): wishes.protectionClass = protectionClass
            case .keychain(let accessibility): wishes.accessibility = accessibility
            }
            let name = "new \(protection.name)"
            let params = ItemExplainParameters(name: try ItemName(name), byteCount: 1, wishes: wishes)
            let promise = try vault.client.explain(params)
            #expect(promise.stored == nil && promise.access.read == nil && promise.access.remove == nil)
            let write = try Self.answer { try vault.put(protection, under: name) }
            #expect(promise.access.write == write, "\(protection.name)")
        }
    }

    @Test(arguments: [VaultState.noVault, .deviceKeyMissing])
    func `without keys there is nothing`(state: VaultState) throws {
        let vault = try Vault()
        for protection in Vault.protections {
            let access = try vault.explain(protection.name, in: state).access
            #expect(access.read == .no(.notAvailable))
            #expect(access.write == .no(.notAvailable))
            #expect(access.remove == .no(.notAvailable))
        }
    }

    @Test func `another client gets what the gate would give it, and the caller nothing more`() throws {
        let vault = try Vault()
        let stranger = try vault.explain("Always", as: .user(geteuid() + 1)).access
        #expect(stranger.read == .no(.missingEntitlement))
        #expect(stranger.write == .no(.missingEntitlement))
        #expect(try vault.explain("Always", as: .user(geteuid())).access.read == .yes)
        try vault.bring(to: .locked)
        #expect(try vault.explain("WhenUnlocked", in: .unlocked).access.read == .yes)
        #expect(throws: CofferError.self) { try vault.client.get("WhenUnlocked") }
    }

    @Test func `what a rule gives another client is said, and what an exception takes`() throws {
        let vault = try Vault()
        let other = ClientPattern.user(4242)
        try vault.client.put("a/open", [1])
        try vault.client.put("a/shut", [1])
        let allow = AccessAllowParameters(client: other, verbs: [.read], pattern: try NamePattern("a/open"))
        try vault.client.call(allow)
        try vault.client.grant(try ItemName("a/shut"), to: other, seconds: 60)
        func access(_ name: String) throws -> ItemAccess { try vault.explain(name, as: other).access }
        for name in ["a/open", "a/shut"] {
            let found = try access(name)
            #expect(found.read == .yes && found.write == .no(.missingEntitlement), "\(name)")
            #expect(found.remove == .no(.missingEntitlement), "\(name)")
        }
        let deny = AccessDenyParameters(client: other, verbs: [.read], pattern: try NamePattern("a/sh*"))
        try vault.client.call(deny)
        #expect(try access("a/shut").read == .no(.missingEntitlement))
        #expect(try access("a/open").read == .yes)
        _ = try vault.client.lock(graceSeconds: 0)
        #expect(try access("a/open").read == .no(.interactionNotAllowed))
    }

    @Test func `an item with an access control wants somebody`() throws {
        let vault = try Vault()
        let params = KeychainAddParameters(
            .genericPassword,
            [.service: .text("bank"), .account: .text("pin")],
            accessControl: try AccessControl([.userPresence, .protectWrites])
        )
        _ = try vault.client.addKeychainItem(params, secret: nil)
        let access = try vault.explain("bank/pin").access
        #expect(access.read == .no(.interactionRequired))
        #expect(access.write == .no(.interactionRequired))
        #expect(access.remove == .no(.interactionRequired))
    }

    @Test func `a name that is not there, and a state that is none, are told`() throws {
        let vault = try Vault()
        let absent = try vault.explain("nothing/here")
        #expect(absent.stored == nil)
        #expect(absent.placement.rule == "R6")
        #expect(throws: CofferError(.param, "")) {
            _ = try vault.client.call(
                .itemExplain,
                RawParameters(json: ["name": "Always", "state": "open"]),
                returning: Explanation.self
            )
        }
        #expect(throws: CofferError(.param, "")) {
            _ = try vault.client.call(
                .itemExplain,
                RawParameters(json: ["name": "Always", "as": "root"]),
                returning: Explanation.self
            )
        }
    }
}

/// Unchecked parameters.
private struct RawParameters: WireObject {
    let json: JSONObject

    init(json: JSONObject) { self.json = json }

    init(reading reader: inout ParameterReader) throws(CofferError) { json = [:] }
}
