internal import CofferCore
internal import Synchronization

/// What the daemon has said of the tree a moment ago: attributes of files, and the entries of directories that a program has
/// listed, or in which it looks at one file after the other, which are listed by one request.
///
/// It is believed for as long as the kernel may believe it. What this mount changes is noted here. Any other change, by this
/// mount or by another client, makes it forget everything.
package final class RecentAnswers: Sendable {
    /// What is known of a file.
    package struct Found {
        package let attributes: Attributes
        /// How long that may be believed, in seconds.
        package let validity: Double
    }

    /// What to do for a look-up.
    package enum Advice {
        case found(Found)
        /// There is no such entry.
        case missing
        /// Ask for this entry.
        case ask
        /// List the directory; ``keep(_:isWhole:of:since:)`` takes the result.
        case list
    }

    /// When something was asked for, or a change began.
    package struct Ticket: Sendable {
        fileprivate let start: ContinuousClock.Instant
        /// The changes that were made, or told, before.
        fileprivate let changeCount: Int
        /// How often everything was forgotten before.
        fileprivate let forgetCount: Int
    }

    private struct Directory {
        /// When the first of the look-ups that are counted was made, or the listing was asked for.
        var start: ContinuousClock.Instant
        var lookupCount = 0
        /// The numbers of its entries, if they were listed.
        var entries: [FileName: UInt64]?
        /// Whether there are no others.
        var isWhole = false
    }

    private struct Known {
        let start: ContinuousClock.Instant
        var attributes: Attributes
        /// Whether its times are known, too: the daemon does not tell them of what was written.
        var isWhole = true
    }

    private struct State {
        var directories: [UInt64: Directory] = [:]
        var known: [UInt64: Known] = [:]
        /// How many entries the directories have, at most.
        var entryCount = 0
        var changeCount = 0
        var forgetCount = 0

        mutating func forget() {
            changeCount += 1
            forgetCount += 1
            makeRoom()
        }

        /// Forgets what was said because it is much, and not because something has changed.
        mutating func makeRoom() {
            directories = [:]
            known = [:]
            entryCount = 0
        }
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: Asking

    /// Finds an entry, and counts the look-up.
    ///
    /// - Parameter span: How long an answer is believed, in seconds.
    package func advice(for name: FileName, in parent: UInt64, believing span: Double) -> Advice {
        let now = ContinuousClock.now
        return state.withLock { state in
            if state.directories.count > Limits.rememberedDirectories { state.makeRoom() }
            var directory = state.directories[parent] ?? Directory(start: now)
            let age = Self.seconds(directory.start.duration(to: now))
            if age > (directory.entries == nil ? 1 : span) { directory = Directory(start: now) }
            defer { state.directories[parent] = directory }
            if let entries = directory.entries {
                guard age < span - Limits.unusedValiditySeconds else { return .ask }
                guard let number = entries[name] else { return directory.isWhole ? .missing : .ask }
                return Self.found(number, state, span, now).map { .found($0) } ?? .ask
            }
            directory.lookupCount += 1
            return directory.lookupCount == Limits.lookUpsBeforeListing ? .list : .ask
        }
    }

    /// The entries of a directory, and how long they may be believed, in seconds; `nil` if the daemon must be asked.
    ///
    /// - Parameter span: How long an answer is believed, in seconds.
    package func listing(
        of number: UInt64,
        believing span: Double
    ) -> (entries: [DirectoryListing.Entry], validity: Double)? {
        let now = ContinuousClock.now
        return state.withLock { state in
            guard let directory = state.directories[number], let numbers = directory.entries, directory.isWhole else {
                return nil
            }
            var validity = span - Self.seconds(directory.start.duration(to: now))
            var entries: [DirectoryListing.Entry] = []
            for (name, number) in numbers {
                guard let found = Self.found(number, state, span, now) else { return nil }
                validity = min(validity, found.validity)
                entries.append(DirectoryListing.Entry(name: name, attributes: found.attributes))
            }
            return validity > Limits.unusedValiditySeconds ? (entries, validity) : nil
        }
    }

    /// What is known of a file; `nil` if the daemon must be asked.
    ///
    /// - Parameter span: How long an answer is believed, in seconds.
    package func attributes(of number: UInt64, believing span: Double) -> Found? {
        state.withLock { Self.found(number, $0, span, .now) }
    }

    private static func found(
        _ number: UInt64,
        _ state: borrowing State,
        _ span: Double,
        _ now: ContinuousClock.Instant
    ) -> Found? {
        guard let known = state.known[number], known.isWhole else { return nil }
        let left = span - seconds(known.start.duration(to: now))
        return left > Limits.unusedValiditySeconds ? Found(attributes: known.attributes, validity: left) : nil
    }

    /// What is known of a file of which the attributes are changed; `nil` if that is not all.
    ///
    /// - Parameter change: The change, which may state what is not known.
    func attributes(beforeChange change: AttributeChange, of number: UInt64) -> Attributes? {
        state.withLock { state in
            guard let known = state.known[number], known.isWhole || change.modified != nil else { return nil }
            return known.attributes
        }
    }

    /// Called before the daemon is asked for something that is kept.
    package func ticket() -> Ticket { state.withLock { Self.ticket($0) } }

    private static func ticket(_ state: borrowing State) -> Ticket {
        Ticket(start: .now, changeCount: state.changeCount, forgetCount: state.forgetCount)
    }

    /// Keeps a listing, unless something has changed since it was asked for.
    ///
    /// - Parameter isWhole: Whether the directory has no other entries.
    package func keep(
        _ entries: [DirectoryListing.Entry],
        isWhole: Bool,
        of parent: UInt64,
        since ticket: Ticket
    ) {
        state.withLock { state in
            guard state.changeCount == ticket.changeCount else { return }
            if state.entryCount + entries.count > Limits.rememberedFiles { state.makeRoom() }
            state.entryCount += entries.count
            let numbers = Dictionary(entries.map { ($0.name, $0.attributes.number) }) { $1 }
            state.directories[parent] = Directory(start: ticket.start, entries: numbers, isWhole: isWhole)
            for entry in entries { Self.learn(entry.attributes, at: ticket.start, &state) }
        }
    }

    /// Keeps the attributes of a file, unless something has changed since they were asked for.
    package func keep(_ attributes: Attributes, since ticket: Ticket) {
        state.withLock { state in
            if state.changeCount == ticket.changeCount { Self.learn(attributes, at: ticket.start, &state) }
        }
    }

    private static func learn(_ attributes: Attributes, at start: ContinuousClock.Instant, _ state: inout State) {
        if state.known.count >= Limits.rememberedFiles { state.known = [:] }
        state.known[attributes.number] = Known(start: start, attributes: attributes)
    }

    // MARK: Changes

    /// Called before this mount changes something that is noted afterwards: what is asked for meanwhile is not kept.
    package func beginChange() -> Ticket {
        state.withLock { state in
            state.changeCount += 1
            return Self.ticket(state)
        }
    }

    /// Notes an entry that was made, unless something else may have changed since it was begun.
    ///
    /// - Parameters:
    ///   - attributes: The new file or directory, whose time is that of the directory that it is in as well.
    ///   - name: Its name.
    ///   - parent: The directory.
    ///   - ticket: When it was begun.
    package func made(_ attributes: Attributes, as name: FileName, in parent: UInt64, since ticket: Ticket) {
        state.withLock { state in
            guard state.forgetCount == ticket.forgetCount else { return state.forget() }
            state.changeCount += 1
            let count = state.directories[parent]?.entries?.count ?? 0
            if count >= Limits.rememberedFiles { state.directories[parent] = nil }
            state.directories[parent]?.entries?[name] = attributes.number
            state.known[parent]?.attributes.enter(at: attributes.times.changed)
            Self.learn(attributes, at: ticket.start, &state)
            if attributes.kind == .directory {
                state.directories[attributes.number] = Directory(start: ticket.start, entries: [:], isWhole: true)
            }
        }
    }

    /// Notes an entry that was removed, unless something else may have changed since that was begun.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - number: The number of its file; `nil` if it is not known.
    ///   - parent: The directory.
    ///   - ticket: When it was begun.
    package func removed(_ name: FileName, _ number: UInt64?, in parent: UInt64, since ticket: Ticket) {
        state.withLock { state in
            guard let number, state.forgetCount == ticket.forgetCount else { return state.forget() }
            state.changeCount += 1
            state.directories[parent]?.entries?[name] = nil
            state.directories[number] = nil
            // The times of the directory are new, and another name of the file has one link less.
            for number in [number, parent] { state.known[number] = nil }
        }
    }

    /// Notes the attributes of a file that were changed, unless something else may have changed since that was begun.
    package func changed(_ attributes: Attributes, since ticket: Ticket) {
        state.withLock { state in
            guard state.forgetCount == ticket.forgetCount else { return state.forget() }
            state.changeCount += 1
            Self.learn(attributes, at: ticket.start, &state)
        }
    }

    /// Forgets the attributes of a file that are being changed.
    package func doubt(_ number: UInt64) {
        state.withLock { state in
            state.changeCount += 1
            state.known[number] = nil
        }
    }

    /// Called before the content of a file is changed.
    ///
    /// - Returns: What was known of it, for ``endWrite(of:_:byteCount:)``.
    package func beginWrite(of number: UInt64) -> (known: Attributes?, since: Ticket) {
        state.withLock { state in
            state.changeCount += 1
            return (state.known.removeValue(forKey: number)?.attributes, Self.ticket(state))
        }
    }

    /// Called after the content of a file was changed.
    ///
    /// - Parameter byteCount: Its size; `nil` if it is not known.
    package func endWrite(of number: UInt64, _ begin: (known: Attributes?, since: Ticket), byteCount: Int64?) {
        state.withLock { state in
            state.changeCount += 1
            state.known[number] = nil
            guard state.forgetCount == begin.since.forgetCount, let byteCount, var known = begin.known else { return }
            known.byteCount = byteCount
            // Until the daemon is asked, no hole is claimed.
            known.storedByteCount = nil
            state.known[number] = Known(start: begin.since.start, attributes: known, isWhole: false)
        }
    }

    /// Forgets everything, because something changes, has changed or may have.
    package func forget() { state.withLock { $0.forget() } }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}

extension Attributes {
    /// Notes that an entry of this directory was made.
    fileprivate mutating func enter(at time: Int64) {
        times.modified = max(times.modified, time)
        times.changed = max(times.changed, time)
    }
}
