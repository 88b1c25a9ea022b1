import CofferCore
import CofferWire
import Testing

/// What a check and the quarantine send to and fro.
@Suite struct DoctorMessageTests {
    private func refusal(_ body: () throws(CofferError) -> Void) -> ErrorCode? {
        do throws(CofferError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a page of a check comes back as it was`() throws {
        let findings = Damage.allCases.map { damage in
            Finding(.keychainItems, reference: ItemID(), name: "'a'", damage, repair: .rewrite, isRepaired: true)
        }
        let bare = Finding(.files, .row, repair: .quarantine, isRepaired: false)
        let page = CheckPage(
            stage: .keychainItems,
            checkedCount: 5,
            sealedCount: 2,
            quarantinedCount: 1,
            findings: findings + [bare],
            cursor: "keychainItems:5"
        )
        #expect(try CheckPage(result: .object(page.json)) == page)
    }

    @Test func `a page of the quarantine comes back as it was`() throws {
        let entry = QuarantineEntry(
            store: .keychain,
            number: 4,
            stage: .past,
            reference: ItemID(),
            name: "'a'",
            damage: .secret,
            moved: 77,
            obstacle: "why"
        )
        let bare = QuarantineEntry(
            store: .file,
            number: 1,
            stage: .files,
            reference: nil,
            name: nil,
            damage: .row,
            moved: 0,
            obstacle: nil
        )
        let page = QuarantinePage(entries: [entry, bare], cursor: nil)
        #expect(try QuarantinePage(result: .object(page.json)) == page)
    }

    @Test func `what is destroyed has to be named, by store and number together`() {
        #expect(
            refusal { () throws(CofferError) in _ = try VaultQuarantineParameters(params: ["action": "discard"]) }
                == .param
        )
        #expect(
            refusal { () throws(CofferError) in _ = try VaultQuarantineParameters(params: ["store": "file"]) } == .param
        )
        #expect(
            refusal { () throws(CofferError) in _ = try VaultQuarantineParameters(params: ["number": 1]) } == .param
        )
        let whole: JSONObject = ["action": "discard", "store": "file", "number": 1]
        #expect(refusal { () throws(CofferError) in _ = try VaultQuarantineParameters(params: whole) } == nil)
    }

    @Test func `a page of items tells how many damaged rows it passed over, and an older daemon's tells none`() throws {
        let page = KeychainPage(items: [], lockedCount: 0, damagedCount: 3, cursor: nil)
        #expect(try KeychainPage(result: .object(page.json)) == page)
        #expect(page.json["damagedCount"] == .integer(3))
        #expect(try KeychainPage(result: .object(["items": .array([]), "lockedCount": 0])).damagedCount == 0)
    }
}
