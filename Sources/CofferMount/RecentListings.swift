internal import CofferCore
internal import Synchronization

/// The entries of directories in which a program looks at one file after the other: after a few of them, the whole
/// directory is listed by one request, and what it says is believed for a second, no longer than the kernel would.
package final class RecentListings: Sendable {
    /// What is known of an entry.
    package struct Found {
        package let attributes: Attributes
        /// How long that may be believed, in seconds.
        package let validity: Double
    }

    /// What to do for a look-up.
    package enum Advice {
        case found(Found)
        /// Ask for this entry.
        case ask
        /// List the directory; ``keep(_:of:since:)`` takes the result.
        case list(Ticket)
    }

    /// When a listing was asked for.
    package struct Ticket {
        let start: ContinuousClock.Instant
        let changeCount: Int
    }

    private struct Directory {
        /// When the first of the look-ups that are counted was made, or the listing was asked for.
        var start: ContinuousClock.Instant
        var lookupCount = 0
        var entries: [FileName: Attributes]?
    }

    private struct State {
        var directories: [UInt64: Directory] = [:]
        /// How many changes were made, or told: a listing that was asked for before one of them may be out of date.
        var changeCount = 0
    }

    /// How long a listing is believed.
    private static let span = 1.0
    /// A listing is not used for the last part of it, in which the kernel would ask again at once.
    private static let usedSpan = 0.8
    /// After so many look-ups within ``span``, the directory is listed.
    private static let threshold = 4
    /// Of more directories, all are forgotten.
    private static let capacity = 64

    private let state = Mutex(State())

    package init() {}

    /// Finds an entry, and counts the look-up.
    package func advice(for name: FileName, in parent: UInt64) -> Advice {
        let now = ContinuousClock.now
        return state.withLock { state in
            if state.directories.count > Self.capacity { state.directories = [:] }
            var directory = state.directories[parent] ?? Directory(start: now)
            let age = Self.seconds(directory.start.duration(to: now))
            if age > Self.span { directory = Directory(start: now) }
            defer { state.directories[parent] = directory }
            if let entries = directory.entries {
                guard age < Self.usedSpan, let attributes = entries[name] else { return .ask }
                return .found(Found(attributes: attributes, validity: Self.span - age))
            }
            directory.lookupCount += 1
            guard directory.lookupCount == Self.threshold else { return .ask }
            return .list(Ticket(start: now, changeCount: state.changeCount))
        }
    }

    /// Keeps a listing, unless something has changed since it was asked for.
    package func keep(_ entries: [FileName: Attributes], of parent: UInt64, since ticket: Ticket) {
        state.withLock { state in
            guard state.changeCount == ticket.changeCount else { return }
            state.directories[parent] = Directory(start: ticket.start, entries: entries)
        }
    }

    /// Forgets everything, because something changes, has changed or may have.
    package func forget() {
        state.withLock { state in
            state.changeCount += 1
            state.directories = [:]
        }
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
