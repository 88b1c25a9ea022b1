internal import CofferCore
package import CofferVault

/// Decides what is carried out next: pure, without input, output or a clock.
///
/// Requests that only read come first, as long as nothing that they read was changed and is not on the disk. Those that change
/// something follow, until the turn's quantum is over. The tenants take turns.
package struct Scheduler {
    /// What a request does.
    package enum Kind {
        /// It looks at something.
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
    private var reading = FairQueue<Int>()
    private var changing = FairQueue<Int>()
    /// Those that would read what was changed, and have to wait for the commit.
    private var blocked: [Int] = []
    /// What was changed in this turn.
    private var uncommitted: [RequestScope] = []

    package init() {}

    /// Takes a request in, which does not go on before it is told to.
    package mutating func add(_ token: Int, _ scope: RequestScope, _ kind: Kind, of tenant: Int) {
        entries[token] = Entry(scope: scope, tenant: tenant, kind: kind)
    }

    /// Lets a request go on when it is its turn.
    package mutating func goOn(_ token: Int) {
        guard let entry = entries[token] else { return }
        switch entry.kind {
        case .reading: reading.append(token, for: entry.tenant)
        case .changing: changing.append(token, for: entry.tenant)
        }
    }

    /// Forgets a request that has ended.
    package mutating func remove(_ token: Int) { entries[token] = nil }

    /// Whether something of a scope may be read now: nothing of it waits for the commit.
    package func mayRead(_ scope: RequestScope) -> Bool {
        !uncommitted.contains { RequestScope.mustWait(scope, for: $0) }
    }

    /// The next one that only reads, and may.
    package mutating func nextReading() -> Int? {
        while let (token, _) = reading.removeFirst() {
            guard let entry = entries[token] else { continue }
            if mayRead(entry.scope) { return token }
            blocked.append(token)
        }
        return nil
    }

    /// The next one that may change something.
    package mutating func nextChanging() -> Int? {
        while let (token, _) = changing.removeFirst() {
            if entries[token] != nil { return token }
        }
        return nil
    }

    /// Takes note that a request has changed something.
    package mutating func noteChange(by token: Int) {
        guard let scope = entries[token]?.scope else { return uncommitted.append(.barrier) }
        if uncommitted.last != scope { uncommitted.append(scope) }
    }

    /// Takes note that all that was changed is on the disk, or undone.
    package mutating func noteCommit() {
        uncommitted = []
        for token in blocked { goOn(token) }
        blocked = []
    }

    /// Whether a tenant besides this one waits.
    package func othersWait(besides tenant: Int) -> Bool {
        reading.has(otherThan: tenant) || changing.has(otherThan: tenant)
    }

    /// Whether anything can go on.
    package var isIdle: Bool { reading.isEmpty && changing.isEmpty && blocked.isEmpty }
}
