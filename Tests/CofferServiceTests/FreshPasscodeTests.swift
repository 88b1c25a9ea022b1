import CofferClient
import CofferCore
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What wants the passcode although the vault is unlocked: it gives much away at once.
@Suite struct FreshPasscodeTests {
    private let server: TestServer
    private let client: BlockingClient

    init() throws {
        server = try TestServer(graceSeconds: 0)
        client = try server.connect()
    }

    private func refusal(_ body: () throws -> Void) throws -> CofferError? {
        do {
            try body()
            return nil
        } catch let error as CofferError {
            return error
        }
    }

    private func add(_ client: ClientPattern, _ pattern: String) throws -> CofferError? {
        try refusal {
            let params = AccessAllowParameters(client: client, verbs: [.read], pattern: try NamePattern(pattern))
            _ = try self.client.call(params)
        }
    }

    private static let others: [ClientPattern] = [
        .user(geteuid() + 7), .group(getegid() + 7), .unit("ci.service"), .unit("ci@*.service"),
    ]

    @Test(arguments: others, ["**", "deploy/*", "deploy/toke?"])
    func `a rule with a pattern for others wants it, once for each`(other: ClientPattern, pattern: String) throws {
        try client.makeVault()
        let refused = try #require(try add(other, pattern))
        #expect(refused.code == .interactionRequired && refused.need == .passcode)
        try client.presentPasscode()
        #expect(try add(other, pattern) == nil)
        // The same rule again is the one that there is.
        #expect(try add(other, pattern) == nil)
        #expect(try add(other, "\(pattern)x")?.code == .interactionRequired)
        let wrong = try client.rules().rules.count
        #expect(wrong == 1)
    }

    @Test func `a rule for one name, for the owner's own processes, or that denies, does not`() throws {
        try client.makeVault()
        for other in Self.others { #expect(try add(other, "deploy/token") == nil) }
        for own in [ClientPattern.user(geteuid()), .userUnit("mail.service"), .executable("/usr/bin/mail")] {
            #expect(try add(own, "deploy/*") == nil, "\(own)")
        }
        #expect(try refusal { try client.deny(.user(geteuid() + 7), [.read], "**") } == nil)
    }

    @Test func `a vault without a passcode has none to ask for`() throws {
        try client.makeVault(passcode: nil)
        #expect(try add(.unit("ci.service"), "**") == nil)
        #expect(try refusal { _ = try client.call(ItemListParameters(isForExport: true)) } == nil)
    }

    @Test func `a listing for an export wants it, and the audit says what it was for`() throws {
        try client.makeVault()
        try client.put("a", [1])
        let refused = try refusal { _ = try client.call(ItemListParameters(isForExport: true)) }
        #expect(refused?.code == .interactionRequired && refused?.need == .passcode)
        #expect(try client.call(ItemListParameters()).value.items.count == 1)
        try client.presentPasscode()
        #expect(try client.call(ItemListParameters(isForExport: true)).value.items.count == 1)
        #expect(try refusal { _ = try client.call(ItemListParameters(isForExport: true)) } != nil, "once")
        let records = try client.auditRecords().records
        let listings = records.filter { $0.action == "item.list" && $0.reason == "for an export" }
        #expect(listings.contains { $0.refusal == nil } && listings.contains { $0.refusal != nil })
    }
}
