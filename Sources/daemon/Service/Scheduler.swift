internal import CofferCore
package import CofferVault

/// Decides which request is carried out next; pure, without I/O or a clock.
///
/// Requests that only read come first, unless they would read uncommitted changes. Requests that change something
/// follow until the turn's quantum has ended. Both are in round robin over the tenants. A class, so that a question is no
/// access to the whole of it.
package final class Scheduler {
    /// What a request may do.
    package enum Kind {
        /// It only reads.
        case reading
        /// It may change something: its answer waits for the commit of the turn.
        case changing
    }

    private struct Entry {
        let scope: RequestScope
        let tenant: Int
        let kind: Kind
    }

    private var entries: [Int: Entry] = [:]
    private var reading = FairQueue()
    private var changing = FairQueue()
    /// Requests that would read uncommitted changes, and wait for the commit.
    private var blocked: [Int] = []
    /// Requests that continue in the next turn.
    private var continuing: [Int] = []
    /// The scopes of the uncommitted changes.
    private var uncommitted: [RequestScope] = []

    package init() {}

    /// Adds a request, which is not queued yet.
    package func add(_ token: Int, _ scope: RequestScope, _ kind: Kind, of tenant: Int) {
        entries[token] = Entry(scope: scope, tenant: tenant, kind: kind)
    }

    /// Queues a request.
    package func resume(_ token: Int) {
        guard let entry = entries[token] else { return }
        switch entry.kind {
        case .reading: reading.append(token, for: entry.tenant)
        case .changing: changing.append(token, for: entry.tenant)
        }
    }

    /// Queues a request in the next turn.
    package func resumeNextTurn(_ token: Int) { continuing.append(token) }

    /// Queues the requests that continue in the turn that begins.
    package func beginTurn() {
        for token in continuing { resume(token) }
        continuing = []
    }

    /// Removes a request that has ended.
    package func remove(_ token: Int) { entries[token] = nil }

    /// Whether a scope may be read now, since it has no uncommitted changes.
    package func mayRead(_ scope: RequestScope) -> Bool {
        !uncommitted.contains { RequestScope.mustWait(scope, for: $0) }
    }

    /// The next request that only reads, and need not wait for the commit.
    package func nextReading() -> Int? {
        while let (token, _) = reading.removeFirst() {
            guard let entry = entries[token] else { continue }
            if mayRead(entry.scope) { return token }
            blocked.append(token)
        }
        return nil
    }

    /// The next request that may change something.
    package func nextChanging() -> Int? {
        while let (token, _) = changing.removeFirst() {
            if entries[token] != nil { return token }
        }
        return nil
    }

    /// Records that a request has made a change.
    package func noteChange(by token: Int) {
        guard let scope = entries[token]?.scope else { return uncommitted.append(.barrier) }
        if uncommitted.last != scope { uncommitted.append(scope) }
    }

    /// Records that all changes were committed or rolled back.
    package func noteCommit() {
        uncommitted = []
        for token in blocked { resume(token) }
        blocked = []
    }

    /// Whether another tenant has queued requests.
    package func othersWait(besides tenant: Int) -> Bool {
        reading.has(otherThan: tenant) || changing.has(otherThan: tenant)
    }

    /// Whether another tenant has queued changes.
    package func changesWait(besides tenant: Int) -> Bool { changing.has(otherThan: tenant) }

    /// Whether the next turn has requests that continue.
    package var hasContinuing: Bool { !continuing.isEmpty }

    /// Whether no request is queued.
    package var isIdle: Bool { reading.isEmpty && changing.isEmpty && blocked.isEmpty }
}
