internal import CofferCore
internal import CofferSystem
internal import Synchronization

/// A call that a task waits for and the client's thread ends.
final class PendingCall: Sendable {
    /// The answer or the error.
    typealias Outcome = Result<Answer, CofferError>

    /// The number of the call.
    let number: Int64
    /// Called with the progress, on the client's thread.
    let progress: (@Sendable (TransferProgress) -> Void)?
    /// Rings at the end.
    let alarm = Alarm()
    private let state = Mutex<Outcome?>(nil)

    init(_ number: Int64, progress: (@Sendable (TransferProgress) -> Void)? = nil) {
        self.number = number
        self.progress = progress
    }

    /// Stores the outcome.
    ///
    /// The caller rings the alarm when it holds no reference to it any more.
    func end(_ outcome: Outcome) { state.withLock { $0 = outcome } }

    /// The outcome, after the end.
    var outcome: Outcome? { state.withLock { $0 } }

    /// The error, after a failure.
    var error: CofferError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    /// Waits for the end, and cancels the call if the task is cancelled.
    func outcome(through mailbox: Mailbox) async -> Outcome {
        while true {
            if let outcome { return outcome }
            await alarm.wait { [number] in mailbox.post { $0.cancel(number) } }
        }
    }
}
