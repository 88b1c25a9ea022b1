package import CofferSystem
internal import CofferCore
internal import CofferKeys
internal import CofferVault

/// Stores the keys of class C while no daemon runs, for example in the descriptor store of a service manager.
package struct CarryOver: Sendable {
    /// The size of the stored keys.
    package static let byteCount = CarriedKeys.byteCount

    /// What an earlier daemon left.
    package enum Found: Sendable {
        case nothing
        /// Something that can't be stored keys, and why.
        case unusable(String)
        /// Bytes that are not authenticated yet.
        case bytes([UInt8])
    }

    let found: Found
    let keep: @Sendable (borrowing OwnedDescriptor) throws(SystemError) -> Void
    let remove: @Sendable () throws(SystemError) -> Void
    let report: @Sendable (String) -> Void

    /// Describes the storage.
    ///
    /// - Parameters:
    ///   - found: Its content when the daemon started.
    ///   - keep: Stores memory.
    ///   - remove: Removes everything that was stored.
    ///   - report: Reports a line without secrets to the administrator.
    package init(
        found: Found,
        keep: @escaping @Sendable (borrowing OwnedDescriptor) throws(SystemError) -> Void,
        remove: @escaping @Sendable () throws(SystemError) -> Void,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.found = found
        self.keep = keep
        self.remove = remove
        self.report = report
    }
}

/// The keys that are carried over: their vault, and the time of the lock.
struct CarriedMark: Equatable {
    let vaultID: ItemID
    let lockedSince: UInt64?
}

/// Keeps the stored keys in step with the keys in memory.
final class CarryOverKeeper: ServerPart {
    private let carryOver: CarryOver
    private let locks: LockController
    /// The keys that are stored now.
    private var carried: CarriedMark?

    init(_ carryOver: CarryOver, _ locks: LockController) {
        self.carryOver = carryOver
        self.locks = locks
        super.init(beside: locks)
    }

    /// Restores the keys that an earlier daemon left, if they are this vault's; anything else is removed.
    func restore() {
        let reason: String?
        switch carryOver.found {
        case .nothing: reason = nil
        case .unusable(let why): reason = why
        case .bytes(let bytes): reason = restore(bytes)
        }
        guard let reason else { return }
        carryOver.report("what an earlier cofferd has left is not used, and no key is carried over: \(reason)")
        removeCarriedKeys()
    }

    /// - Returns: Why the keys can't be restored; `nil` if they were.
    private func restore(_ bytes: [UInt8]) -> String? {
        guard let keys = vault.openKeys, keys.state == .beforeFirstUnlock else {
            return "there is no vault that they could open"
        }
        do {
            let lockedSince = try keys.restore(carried: bytes)
            carried = CarriedMark(vaultID: keys.vaultID, lockedSince: lockedSince)
            let now = clock.now
            locks.restore(lockedSince: min(lockedSince ?? now, now))
            return nil
        } catch {
            return error == .noMemory ? "there is no locked memory for keys" : "it is not this vault's"
        }
    }

    /// Updates the stored keys at the end of each turn, if the keys in memory have changed.
    func settle() {
        let keys = vault.openKeys.flatMap { $0.hasKeysToCarry ? $0 : nil }
        let wanted = keys.map { CarriedMark(vaultID: $0.vaultID, lockedSince: locks.schedule.lockedSince) }
        guard wanted != carried else { return }
        if carried != nil { removeCarriedKeys() }
        // A failed removal is tried again at the end of the next turn.
        guard carried == nil, let keys else { return }
        carried = wanted
        do {
            let bytes = try keys.carriedKeys(lockedSince: wanted?.lockedSince)
            try carryOver.keep(try unsafe SealedMemory.make("coffer-class-c", holding: bytes.span.bytes))
        } catch {
            let reason = (error as? SystemError)?.reason ?? "there is no locked memory for keys"
            carryOver.report("can't carry keys over, so a restart of cofferd will lock the vault: \(reason)")
        }
    }

    private func removeCarriedKeys() {
        do throws(SystemError) {
            try carryOver.remove()
            carried = nil
        } catch {
            carryOver.report("can't remove keys from the service manager: \(error.reason)")
        }
    }
}
