internal import CofferCore
internal import CofferSystem
internal import Synchronization

/// What the kernel is to drop of a mount.
package enum MountNotice: Sendable {
    /// The contents and the attributes of some nodes.
    case nodes([UInt64])
    /// Entries of a directory, which it looks up again.
    case entries([String], in: UInt64)
    /// All entries.
    case allEntries
    /// Calls a function once all notices before were given.
    case then(@Sendable () -> Void)
}

/// Tells the kernel of one mount what to drop, on a thread of its own: a notice may wait for requests that the daemon has to
/// answer, and for those that a hostile client has taken from its own mount, which must not hold up other mounts.
package final class MountNotifier: Sendable {
    private struct State {
        var notices: [MountNotice] = []
        var isRunning = false
    }

    private let device: KernelDevice
    private let state = Mutex(State())

    init(_ device: KernelDevice) { self.device = device }

    /// Gives a notice, after those that were given before.
    ///
    /// Any thread may call it.
    package func post(_ notice: MountNotice) {
        let starts = state.withLock { state in
            state.notices.append(notice)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        do throws(SystemError) {
            try NativeThread.startDetached { [self] in run() }
        } catch {
            // The next notice tries it again.
            state.withLock { $0.isRunning = false }
        }
    }

    /// Gives notices until there are none.
    private func run() {
        while let notice = next() {
            switch notice {
            case .nodes(let numbers): for number in numbers { device.dropNode(number) }
            case .entries(let names, let directory): for name in names { device.dropEntry(name, in: directory) }
            case .allEntries: device.dropEntries()
            case .then(let body): body()
            }
        }
    }

    private func next() -> MountNotice? {
        state.withLock { state in
            guard state.notices.isEmpty else { return state.notices.removeFirst() }
            state.isRunning = false
            return nil
        }
    }
}
