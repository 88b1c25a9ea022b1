import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

/// Changes the passcode and the slots until the daemon ends.
final class KeyChanges: @unchecked Sendable {
    // Sendable: one thread at a time.
    private var random: Generator
    private var passcode: String?
    private var slotCount = 2
    /// The possible result of an unanswered change.
    private var pending: (passcode: String?, slotCount: Int)?

    init(_ seed: UInt64) { random = Generator(seed: seed) }

    /// Changes keys.
    ///
    /// - Returns: The number of acknowledged changes.
    func work(_ client: BlockingClient) throws -> Int {
        var count = 0
        while true {
            do { try change(client) } catch let error as CofferError {
                guard error.code == .notAvailable else { throw error }
                return count
            }
            count += 1
        }
    }

    private func change(_ client: BlockingClient) throws {
        let next = "passcode \(random.next())"
        let old = passcode.map { Array($0.utf8) }
        let given: SecretBytes? = try old.map { try SecretBytes($0) }
        let new: SecretBytes? = try SecretBytes(next.utf8)
        switch (old, random.below(4)) {
        case (nil, 0...2):
            pending = (next, slotCount)
            _ = try client.setPasscode(new, kdf: .interactive)
        case (let old?, 0...1):
            pending = (next, slotCount)
            let former = try SecretBytes(old)
            let later = try SecretBytes(next.utf8)
            _ = try client.changePasscode(with: former, to: later, kdf: .interactive)
        case (.some, 2):
            pending = (nil, slotCount)
            _ = try client.removePasscode(with: given, destroying: 0)
        default:
            if slotCount < 4 {
                pending = (passcode, slotCount + 1)
                _ = try client.addKeyslot(with: given)
            } else {
                let slots = try client.keyslots()
                pending = (passcode, slotCount - 1)
                try client.removeKeyslot(slots.last?.number ?? 0, with: given)
            }
        }
        settle()
    }

    private func settle() {
        if let pending { (passcode, slotCount) = pending }
        pending = nil
    }

    /// Unlocks after a restart, and determines the result of the last change.
    func unlock(_ client: BlockingClient) throws {
        let isLocked = try client.status().state == .beforeFirstUnlock
        let slots = try client.keyslots().count
        if let pending, isLocked != (passcode != nil) || slots != slotCount {
            try expect(isLocked == (pending.passcode != nil) && slots == pending.slotCount, "half a change of the keys")
            settle()
        }
        try expect(isLocked == (passcode != nil), "the vault has \(isLocked ? "a" : "no") passcode")
        try expect(slots == slotCount, "\(slots) slots, not \(slotCount)")
        if let passcode, try Outcome({ try client.unlock(passcode) }) != .done {
            try expect(pending != nil, "the passcode does not open the vault")
            try client.unlock(pending?.passcode ?? "")
            settle()
        }
        pending = nil
    }
}
