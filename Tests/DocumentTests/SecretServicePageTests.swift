import CofferCore
import Testing

/// The bounds of `proto-docs/SECRET-SERVICE.md`; its table of methods is in EndToEndTests.
@Suite struct SecretServicePageTests {
    @Test func `the page has the bounds of the Secret Service`() throws {
        let rows = try Page("SECRET-SERVICE.md").table(["bound", "value", "of what"])
        let bounds = [
            "`serviceSecretBytes`": Limits.serviceSecretBytes, "`sessionItems`": Limits.sessionItems,
            "`sessionItemBytes`": Limits.sessionItemBytes, "`transferSessions`": Limits.transferSessions,
            "`servicePrompts`": Limits.servicePrompts,
        ]
        #expect(Dictionary(uniqueKeysWithValues: rows.map { ($0[0], Int($0[1])) }) == bounds.mapValues { $0 })
    }
}
