internal import CofferCore
internal import CofferSystem
internal import Synchronization

/// Tells the kernel of one mount what to drop, on a thread of its own: a notice may wait for requests that the daemon has to
/// answer, and for those that a hostile client has taken from its own mount, which must not hold up other mounts.
///
/// Waiting notices are merged: a page that is dropped twice is dropped once. Any thread may add one.
package final class MountNotifier: Sendable {
    private struct Entry: Hashable {
        let directory: UInt64
        let name: String
    }

    /// What the kernel is to drop.
    private struct Notices {
        /// Nodes whose contents and attributes have changed.
        var nodes: Set<UInt64> = []
        /// Entries that have changed.
        var entries: Set<Entry> = []
        /// All nodes that the kernel may know.
        var allNodes: [UInt64] = []
        var dropsAllEntries = false
        /// How often to confirm that all of this was dropped.
        var confirmationCount = 0

        var isEmpty: Bool {
            nodes.isEmpty && entries.isEmpty && allNodes.isEmpty && !dropsAllEntries && confirmationCount == 0
        }
    }

    private struct State {
        var waiting = Notices()
        var isRunning = false
        var isOverfull = false
    }

    /// Runs a closure on a thread of its own, and returns whether one could be started.
    package typealias StartThread = @Sendable (@escaping @Sendable () -> Void) -> Bool

    private let device: KernelDevice
    private let startThread: StartThread
    private let confirm: @Sendable (Int) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - device: The kernel's end of the mount.
    ///   - startThread: Starts its thread.
    ///   - confirm: The notifier calls it on its thread, when the kernel has dropped everything that came before some calls of
    ///     ``confirmDrops()``, with the number of those calls; with 0 if the mount must end, see ``isOverfull``.
    package init(
        _ device: KernelDevice,
        startThread: @escaping StartThread = { (try? NativeThread.startDetached($0)) != nil },
        confirm: @escaping @Sendable (Int) -> Void
    ) {
        (self.device, self.startThread, self.confirm) = (device, startThread, confirm)
    }

    /// Whether too many notices waited, or the daemon does not know what to drop: the kernel may show old contents, so the mount
    /// must end.
    ///
    /// Only a client that takes requests from its own mount holds notices up for so long.
    package var isOverfull: Bool { state.withLock(\.isOverfull) }

    /// Whether notices wait for the kernel, or are on their way.
    package var isRunning: Bool { state.withLock(\.isRunning) }

    /// Has the mount end, because the daemon does not know what the kernel must drop.
    func giveUp() { change { ($0.waiting, $0.isOverfull) = (Notices(), true) } }

    /// Has the kernel drop the contents and the attributes of nodes.
    func drop(nodes: some Sequence<UInt64>) { add { $0.nodes.formUnion(nodes) } }

    /// Has the kernel drop the contents and the attributes of all nodes that it may know.
    func drop(allNodes nodes: [UInt64]) { add { $0.allNodes += nodes } }

    /// Has the kernel look an entry up again.
    func drop(entry name: String, in directory: UInt64) {
        add { $0.entries.insert(Entry(directory: directory, name: name)) }
    }

    /// Has the kernel look all entries up again.
    func dropAllEntries() { add { $0.dropsAllEntries = true } }

    /// Confirms once, after everything that was to be dropped before.
    package func confirmDrops() { add { $0.confirmationCount += 1 } }

    private func add(_ body: (inout Notices) -> Void) {
        change { state in
            if state.isOverfull { return }
            body(&state.waiting)
            let waiting = state.waiting
            guard
                waiting.nodes.count + waiting.entries.count > Limits.noticesOfMount
                    || waiting.allNodes.count > 2 * Limits.nodesOfMount
            else { return }
            (state.waiting, state.isOverfull) = (Notices(), true)
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let starts = state.withLock { state in
            body(&state)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        if !startThread({ [self] in run() }) { state.withLock { $0.isRunning = false } }
    }

    /// Whether something waits for a thread that could not be started.
    private var isStalled: Bool { state.withLock { !$0.isRunning && ($0.isOverfull || !$0.waiting.isEmpty) } }

    /// Tries again to start the thread if that has failed.
    ///
    /// - Returns: Whether it has failed again.
    package func startIfStalled() -> Bool {
        if isStalled { change { _ in } }
        return isStalled
    }

    /// Gives notices until there are none.
    private func run() {
        while let notices = take() {
            for number in notices.nodes { device.dropNode(number) }
            for entry in notices.entries { device.dropEntry(entry.name, in: entry.directory) }
            for number in notices.allNodes { device.dropNode(number) }
            if notices.dropsAllEntries { device.dropEntries() }
            if notices.confirmationCount > 0 { confirm(notices.confirmationCount) }
        }
    }

    /// Takes what waits; `nil` if nothing does.
    private func take() -> Notices? {
        let (notices, isOverfull) = state.withLock { state in
            defer { state.waiting = Notices() }
            if state.waiting.isEmpty { state.isRunning = false }
            return (state.waiting.isEmpty ? nil : state.waiting, state.isOverfull)
        }
        if isOverfull { confirm(0) }
        return notices
    }
}
