import CofferCore
import CofferKeys
import CofferTestSupport
import Testing

/// What a daemon leaves to the one after it.
@Suite struct CarriedKeysTests {
    private static let carriedSubjects: Set<Subject> = [
        .file(.completeUntilFirstUserAuthentication), .item(.afterFirstUnlock), .item(.afterFirstUnlockThisDeviceOnly),
        // These need nothing that is carried.
        .file(.none), .item(.always), .item(.alwaysThisDeviceOnly),
    ]

    /// A vault, and keys of items that were made while it was unlocked.
    private struct Made {
        let vault: Vault
        let items: [Subject: (id: ItemID, key: TestKey)]

        init() throws {
            vault = try Vault()
            let keys = try vault.open(.unlocked)
            items = try Dictionary(
                uniqueKeysWithValues: Subject.all.map { subject in
                    let id = ItemID()
                    return (subject, (id, try subject.newKey(from: keys, for: id)))
                }
            )
        }

        /// The subjects whose keys open, and are the same.
        func readable(with keys: VaultKeys) -> Set<Subject> {
            Set(
                items.filter { subject, item in
                    (try? subject.unwrap(item.key.wrapped, from: keys, for: item.id)) == item.key.key
                }
                .keys
            )
        }
    }

    @Test(arguments: [TestState.unlocked, .locking, .locked])
    func `they open class C and its like, and nothing of A, B or CX`(state: TestState) throws {
        let made = try Made()
        let bytes = try made.vault.open(state).carriedKeys(lockedSince: 7)
        #expect(bytes.count == CarriedKeys.byteCount)
        let next = try made.vault.open()
        let since = try next.restore(carried: bytes)
        #expect(since == 7)
        #expect(next.state == .lockedExpired)
        let readable = made.readable(with: next)
        #expect(readable == Self.carriedSubjects)
        try next.unlock()
        let readableUnlocked = made.readable(with: next)
        #expect(readableUnlocked == Set(Subject.all))
    }

    @Test func `they can be carried on and on`() throws {
        let made = try Made()
        var bytes = try made.vault.open(.unlocked).carriedKeys(lockedSince: nil)
        for _ in 0..<3 {
            let next = try made.vault.open()
            let since = try next.restore(carried: bytes)
            #expect(since == nil)
            bytes = try next.carriedKeys(lockedSince: nil)
        }
        let last = try made.vault.open()
        _ = try last.restore(carried: bytes)
        let readable = made.readable(with: last)
        #expect(readable == Self.carriedSubjects)
    }

    @Test func `before the first unlock and without a passcode there is nothing to carry over`() throws {
        for keys in [try Vault().open(), try Vault(hasPasscode: false).open()] {
            #expect(!keys.hasKeysToCarry)
            let refused = refusal { () throws(KeyError) in try keys.carriedKeys(lockedSince: nil) }
            #expect(refused == .locked)
        }
    }

    @Test func `a changed byte anywhere is found out, and leaves the vault before its first unlock`() throws {
        let vault = try Vault()
        let bytes = try vault.open(.unlocked).carriedKeys(lockedSince: 7)
        let next = try vault.open()
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1
            let refused = refusal { () throws(KeyError) in try next.restore(carried: changed) }
            #expect(refused == .damaged, "\(place)")
        }
        for length in [0, 1, 17, bytes.count - 1] {
            let refused = refusal { () throws(KeyError) in try next.restore(carried: Array(bytes.prefix(length))) }
            #expect(refused == .damaged)
        }
        let refused = refusal { () throws(KeyError) in try next.restore(carried: bytes + [0]) }
        #expect(refused == .damaged)
        #expect(next.state == .beforeFirstUnlock)
    }

    @Test func `the keys of one class are not taken for those of another`() throws {
        let vault = try Vault()
        let bytes = try vault.open(.unlocked).carriedKeys(lockedSince: nil)
        let head = CarriedKeys.byteCount - 3 * 72
        let exchanged = Array(bytes[..<head] + bytes[(head + 72)..<(head + 144)] + bytes[head..<(head + 72)])
        let next = try vault.open()
        let refused = refusal { () throws(KeyError) in
            try next.restore(carried: exchanged + bytes[(head + 144)...])
        }
        #expect(refused == .damaged)
    }

    @Test func `they have no key of the vault in clear, and are other bytes each time`() throws {
        let made = try Made()
        let keys = try made.vault.open(.unlocked)
        let once = try keys.carriedKeys(lockedSince: nil)
        let again = try keys.carriedKeys(lockedSince: nil)
        let head = CarriedKeys.byteCount - 3 * 72
        // In clear, a key of 32 bytes would be the same in both, wherever it was.
        for place in head..<(once.count - 8) {
            let isSame = once[place..<(place + 8)] == again[place..<(place + 8)]
            #expect(!isSame, "\(place)")
        }
    }

    @Test func `another vault refuses them, under the same device key, too`() throws {
        let bytes = try Vault().open(.unlocked).carriedKeys(lockedSince: nil)
        let other = try Vault(hasPasscode: false).open()
        let refused = refusal { () throws(KeyError) in try other.restore(carried: bytes) }
        #expect(refused == .damaged)
        #expect(other.state == .noPasscode)
    }
}
