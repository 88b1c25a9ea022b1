internal import CofferCore
internal import CofferSystem
internal import CofferWire
internal import Glibc
internal import Synchronization

/// Changes of attributes of files that a program has open for writing, which reach the daemon together: programs that copy
/// or extract a file set its times, its owner and its mode one after the other.
///
/// They wait until something else depends on them: an operation that asks the daemon about the tree or changes it, the end
/// or a sync of the file, or the end of a moment.
final class PendingAttributes: Sendable {
    private struct Entry {
        var change: AttributeChange
        /// What the kernel was told.
        var attributes: Attributes
        /// How many changes it consists of.
        var count = 0
    }

    /// Those that were not sent, or are being sent.
    private let entries = Mutex<[UInt64: Entry]>([:])
    /// Locked while they are sent: what depends on them waits for that, and nothing else does.
    private let sending = Mutex(())
    private let wake: Wake?

    private final class Wake: Sendable {
        let signal: WakeSignal
        init() throws(SystemError) { signal = try WakeSignal() }
    }

    init() { wake = try? Wake() }

    /// Adds a change that may wait.
    ///
    /// - Parameters:
    ///   - change: The change, without a size.
    ///   - known: What is known of the file; `nil` for what was added before.
    /// - Returns: The attributes of the file after it; `nil` if it may not wait.
    func add(_ change: AttributeChange, of number: UInt64, to known: Attributes?) -> Attributes? {
        guard let wake else { return nil }
        return entries.withLock { entries in
            guard var entry = entries[number] ?? known.map({ Entry(change: AttributeChange(), attributes: $0) }) else {
                return nil
            }
            entry.change.take(change)
            entry.attributes.take(change)
            entry.count += 1
            entries[number] = entry
            wake.signal.send()
            return entry.attributes
        }
    }

    /// The attributes that a file has with what waits; `nil` if nothing of it does.
    func attributes(of number: UInt64) -> Attributes? { entries.withLock { $0[number]?.attributes } }

    /// Sends what waits.
    ///
    /// - Parameter send: Sends a change; if it fails, the change is given up.
    func settle(_ send: (UInt64, AttributeChange) -> Void) {
        if entries.withLock({ $0.isEmpty }) { return }
        sending.withLock { _ in
            for (number, entry) in entries.withLock({ $0 }) {
                send(number, entry.change)
                // What was added meanwhile is sent again with the rest.
                entries.withLock { if $0[number]?.count == entry.count { $0[number] = nil } }
            }
        }
    }

    /// Calls a closure a moment after each first change, as long as the process runs.
    func run(_ settle: () -> Void) {
        guard let wake else { return }
        var waiting = PollSet()
        waiting.add(wake.signal.descriptor.number, isReading: true, isWriting: false)
        while true {
            waiting.wait()
            wake.signal.clear()
            usleep(Limits.pendingAttributesMicroseconds)
            settle()
        }
    }
}

extension AttributeChange {
    /// Adds a later change.
    fileprivate mutating func take(_ later: AttributeChange) {
        mode = later.mode ?? mode
        userID = later.userID ?? userID
        groupID = later.groupID ?? groupID
        accessed = later.accessed ?? accessed
        modified = later.modified ?? modified
    }
}

extension Attributes {
    /// Applies a change, which is made now.
    fileprivate mutating func take(_ change: AttributeChange) {
        mode = change.mode ?? mode
        userID = change.userID ?? userID
        groupID = change.groupID ?? groupID
        times.accessed = change.accessed ?? times.accessed
        times.modified = change.modified ?? times.modified
        times.changed = max(times.changed, timespec.now)
    }
}
