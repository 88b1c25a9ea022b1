import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// The former values of a secret whose item changes its accessibility.
@Suite struct FormerValueTests {
    private let stepper: Stepper
    private let query = KeychainQuery(.genericPassword, [.account: .text("tok")])

    init() throws {
        stepper = try Stepper()
    }

    private func put(_ text: String, _ accessibility: Accessibility) throws {
        try stepper.put("tok", Array(text.utf8)) {
            $0.kind = .token
            $0.accessibility = accessibility
        }
    }

    private func former() throws -> [String] {
        try stepper.keychainHistory(of: query).map { value in
            String(decoding: try stepper.formerValue(value.number, of: query)?.exposeBytes() ?? [], as: UTF8.self)
        }
    }

    private func findings() throws -> [Finding] {
        var found: [Finding] = []
        var cursor: String?
        repeat {
            let page = try stepper.checkVault(cursor: cursor)
            found += page.findings
            cursor = page.cursor
        } while cursor != nil
        return found
    }

    @Test func `puts of another accessibility keep every former value, and what comes after them`() throws {
        try put("1", .whenUnlocked)
        try put("2", .afterFirstUnlock)
        try put("3", .whenUnlockedThisDeviceOnly)
        #expect(try former() == ["2", "1"])
        #expect(try findings() == [])
        _ = try stepper.protect(try ItemName("tok"), as: .keychain(.always))
        let secret: SecretBytes? = try SecretBytes("4".utf8)
        let change = KeychainChange(accessibility: .afterFirstUnlockThisDeviceOnly)
        _ = try stepper.updateKeychainItems(query, change, secret: secret)
        #expect(try former() == ["3", "2", "1"])
        let first = try #require(try stepper.keychainHistory(of: query).last)
        try stepper.restoreFormerValue(first.number, of: query)
        #expect(try stepper.get("tok") == Array("1".utf8))
        #expect(try former() == ["4", "3", "2", "1"])
        #expect(try findings() == [])
    }

    @Test func `an item that went through the file store has its whole history`() throws {
        try put("1", .whenUnlocked)
        try put("2", .afterFirstUnlock)
        try stepper.put("tok", Array("a file".utf8)) { $0.store = .file }
        try stepper.put("tok", Array("3".utf8)) { $0.store = .keychain }
        try put("4", .afterFirstUnlock)
        #expect(try former() == ["3", "a file", "2", "1"])
        #expect(try findings() == [])
    }

    @Test func `no former value is given while the item is locked, or the value`() throws {
        try put("1", .whenUnlocked)
        try put("2", .afterFirstUnlock)
        let values = try stepper.keychainHistory(of: query)
        try stepper.reach(.locked)
        // The former value has the class of its item now.
        #expect(try former() == ["1"])
        try stepper.unlock()
        _ = try stepper.protect(try ItemName("tok"), as: .keychain(.whenUnlocked))
        try stepper.reach(.locked)
        #expect(try stepper.keychainHistory(of: query).count == values.count)
        #expect(try Outcome { _ = try stepper.formerValue(values[0].number, of: query) } == .locked)
    }
}
