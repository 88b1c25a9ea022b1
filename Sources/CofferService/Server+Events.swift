internal import CofferCore
internal import CofferKeys
internal import CofferSystem
internal import CofferWire

// What those who watch are told: each what it asked for, of the access groups that it holds.

extension Server {
    /// Begins to tell a client of events, or tells it of others than before.
    func watchVault(_ params: VaultWatchParameters, from caller: Caller) -> Empty {
        caller.subscription.selection = params.selection
        updateChangeLog()
        return Empty()
    }

    /// Nobody's wishes cost those who change items anything.
    func updateChangeLog() {
        vault.openCatalog?.changes.isWanted = sessions.values.contains {
            $0.caller.subscription.selection?.contains(.items) ?? false
        }
    }

    /// Tells all who watch that protected data comes or goes, as far as it is news.
    func announce(_ next: ProtectedData) {
        let last = protectedData
        protectedData = next
        switch (last, next) {
        case (.available, .available), (.going, .going), (.gone, .gone), (.gone, .going): break
        case (_, .available): tell(.protectedDataDidBecomeAvailable)
        case (.available, .going): tell(.protectedDataWillBecomeUnavailable)
        case (.going, .gone): tell(.protectedDataDidBecomeUnavailable)
        case (.available, .gone):
            tell(.protectedDataWillBecomeUnavailable)
            tell(.protectedDataDidBecomeUnavailable)
        }
    }

    /// Tells those who want to know that a credential was wrong.
    func tellFailedAttempt(at keys: VaultKeys) {
        let attempts = FailedAttempts(
            count: keys.failedAttempts,
            retrySeconds: keys.secondsToNextAttempt(at: configuration.clock.now),
            isEnded: keys.attemptsEnded
        )
        tell(.attemptDidFail(attempts), wishing: .attempts)
    }

    /// Tells what the turn has changed, now that it is on the disk.
    func tellChanges(of catalog: Catalog) {
        for event in catalog.changes.takeEvents() { tell(event, wishing: .items) }
    }

    /// Tells all who watch, or those of them who wish to know.
    func tell(_ event: VaultEvent, wishing wish: EventSelection = []) {
        for (number, session) in sessions {
            guard let selection = session.caller.subscription.selection, selection.isSuperset(of: wish) else {
                continue
            }
            queueAnswers(of: session, number)
            for part in event.parts(for: session.caller) { session.tell(part) }
        }
    }
}

/// Whether what is readable while unlocked only is there.
enum ProtectedData {
    case available
    /// It is, until the grace of a lock is over.
    case going
    case gone
}

/// What a connection is told without asking each time.
final class EventSubscription {
    /// The events besides those of locking and unlocking; `nil` where it is told none at all.
    var selection: EventSelection?
}

extension VaultEvent {
    /// How many events it counts for where it is missed.
    var count: Int {
        switch self {
        case .itemsDidChange(let changes): changes.count
        case .auditDidGrow(let records): records.count
        case .eventsMissed(let count): count
        case .attemptDidFail, .protectedDataDidBecomeAvailable, .protectedDataDidBecomeUnavailable,
            .protectedDataWillBecomeUnavailable:
            1
        }
    }

    /// What of it a client may know, in messages that are not too long.
    fileprivate func parts(for caller: Caller) -> [VaultEvent] {
        switch self {
        case .itemsDidChange(let changes):
            changes.filter { caller.holds($0.group) }.parts(measuredBy: \.jsonByteCount).map { .itemsDidChange($0) }
        case .auditDidGrow(let records): records.parts(measuredBy: \.jsonByteCount).map { .auditDidGrow($0) }
        default: [self]
        }
    }
}

extension Array {
    /// The elements in their order, in parts that are not too long for a message.
    fileprivate func parts(measuredBy byteCount: (Element) -> Int) -> [[Element]] {
        var parts: [[Element]] = []
        var partByteCount = 0
        for element in self {
            partByteCount += byteCount(element)
            if parts.isEmpty || partByteCount > Limits.eventBytes / 2 {
                parts.append([])
                partByteCount = byteCount(element)
            }
            parts[parts.count - 1].append(element)
        }
        return parts
    }
}

extension ItemChange {
    /// The bytes that it has as JSON at most: a byte of a name may become six.
    fileprivate var jsonByteCount: Int {
        256 + 6 * (group.utf8.count + (name?.utf8.count ?? 0) + (formerName?.utf8.count ?? 0))
    }
}
