internal import CofferCore
internal import CofferWire
internal import Synchronization

/// What the daemon answered, for any thread.
struct Reply: Sendable {
    /// The result, as it came.
    let json: JSONValue
    /// The bytes that came with it.
    let payload: Secret
    /// The connection on which it came.
    let epoch: Int

    init(_ answer: Answer) {
        json = answer.json
        payload = Secret(answer.takePayload())
        epoch = answer.epoch
    }
}

/// What a task waits for: the client's thread puts it here.
final class Pending<Value: Sendable>: Sendable {
    /// What came of it.
    typealias Outcome = Result<Value, CofferError>

    /// Of a call, its number.
    let number: Int64
    /// Told how far a call has come, on the client's thread.
    let progress: (@Sendable (TransferProgress) -> Void)?
    /// Rings when it has ended.
    let alarm = Alarm()
    private let state = Mutex<Outcome?>(nil)

    init(_ number: Int64, progress: (@Sendable (TransferProgress) -> Void)? = nil) {
        self.number = number
        self.progress = progress
    }

    /// Keeps the outcome; the caller rings the alarm once it holds no part of it any more.
    func end(_ outcome: Outcome) { state.withLock { $0 = outcome } }

    /// What came of it, if it has ended.
    var outcome: Outcome? { state.withLock { $0 } }

    /// Why it has failed, if it has.
    var error: CofferError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    /// Waits for the end.
    ///
    /// - Parameter cancel: Called where the task is cancelled; may be called twice.
    func outcome(onCancel cancel: @escaping @Sendable () -> Void) async -> Outcome {
        while true {
            if let outcome { return outcome }
            await alarm.wait(onCancel: cancel)
        }
    }
}

/// A call that a task waits for.
typealias PendingCall = Pending<Reply>
