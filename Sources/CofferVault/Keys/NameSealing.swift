internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferWire

extension Vault {
    /// Seals the names that an older version has left under the device key, in slices, now that the passcode was given.
    package func sealNames() {
        guard let catalog = try? catalog else { return }
        catalog.files.forgetRecentMetadata()
        guard (try? catalog.hasNamesToSeal()) ?? false else { return }
        chores.append(Chore(tenant: 0) { [self] call in try perform(NameSealing(), call) })
    }
}

extension Catalog {
    fileprivate func hasNamesToSeal() throws -> Bool { try keychain.hasNamesToSeal() || files.hasNamesToSeal() }
}

/// The sealing of names under the passcode. What a failure or a lock leaves is sealed after the next unlock.
private final class NameSealing: SlicedWork {
    private(set) var changedCount = 0
    var doneCount: Int { changedCount }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        let isDone = try catalog.change { _ in
            func isEnoughNow() -> Bool {
                changedCount += 1
                return isEnough()
            }
            return try catalog.keychain.sealNames(until: isEnoughNow) && catalog.files.sealNames(until: isEnoughNow)
        }
        return isDone ? Reply(Empty()) : nil
    }
}
