package import CofferRights
package import CofferCore
package import CofferSystem
internal import Synchronization

/// A request that is being carried out: its caller, its attachments, and what to do at its end.
package final class Call {
    /// Whether the client still wants the answer.
    private struct Interest {
        /// Whether the peer still has the connection open.
        var isConnected: () -> Bool
        var isCancelled = false
        /// Ends a transfer of another thread.
        var cancellation: Cancellation?
    }

    package let caller: Caller
    package let attachments: Attachments
    /// The rule that permits the request, if the caller's own rights don't.
    package var permit: StoredAccessRule?
    /// Whether that rule counts how often an item is read.
    package var countsUse: Bool { permit?.rule.uses != nil }
    /// The operation, for errors that don't name one.
    package var subject: String { describe() }
    private var describe: () -> String = { "can't carry out the request" }
    /// Receives progress, if the client asked for it.
    private let progress: (any ProgressObserver)?
    private var interest: Interest

    /// Completes the error if the changes since the last commit are rolled back.
    package var explainUndoing: (CofferError) -> CofferError = { $0 }

    /// The time limit of its present step; `nil` for none.
    package var quantum: Quantum?

    private var endings: [() -> Void] = []
    private var isInVain: () -> CofferError? = { nil }
    /// The claims that outlive it.
    package private(set) var kept: [Claim] = []

    package init(
        from caller: Caller,
        _ attachments: Attachments,
        progress: (any ProgressObserver)? = nil,
        isConnected: @escaping () -> Bool = { true }
    ) {
        self.caller = caller
        self.attachments = attachments
        self.progress = progress
        interest = Interest(isConnected: isConnected)
    }

    /// Sets the operation, which is put into words only for an error.
    package func isFor(_ subject: @autoclosure @escaping () -> String) { describe = subject }

    /// The access group of the request: that of the rule that permits it, or the one that it names, or the caller's default.
    package func group(_ named: String?) throws(CofferError) -> String {
        if let permit { return permit.rule.group }
        return try caller.group(named)
    }

    // MARK: Its end

    /// Registers a cleanup, which runs however the request ends; the last registered runs first.
    package func atEnd(_ body: @escaping () -> Void) { endings.append(body) }

    package func end() {
        while let ending = endings.popLast() { ending() }
    }

    // MARK: Claims

    /// Keeps a claim beyond the end of the request.
    package func keep(_ claim: Claim) { kept.append(claim) }

    /// Sets the condition that ends the wait for a claim with an error.
    package func waits(unless isInVain: @escaping () -> CofferError?) { self.isInVain = isInVain }

    /// The error that ends the wait for a claim; `nil` while it continues.
    package var endOfWaiting: CofferError? { isCancelled ? .cancelled : isInVain() }

    // MARK: Cancelling

    /// Whether the client has cancelled it or disconnected.
    package var isCancelled: Bool { interest.isCancelled }

    package func cancel() {
        interest.isCancelled = true
        // It may hold the connection, which holds the request until that is answered.
        interest.isConnected = { false }
        interest.cancellation?.cancel()
    }

    package func checkWanted() throws(CofferError) {
        if isCancelled { throw .cancelled }
    }

    /// Throws if the client has disconnected: the event may have arrived while its tenant had no quantum yet.
    package func checkSender() throws(CofferError) {
        if !interest.isConnected() { cancel() }
        try checkWanted()
    }

    /// Returns what ends a blocking transfer of another thread when the request is cancelled.
    package func makeCancellation() throws(CofferError) -> Cancellation {
        if let cancellation = interest.cancellation { return cancellation }
        do {
            let cancellation = try Cancellation()
            interest.cancellation = cancellation
            if isCancelled { cancellation.cancel() }
            return cancellation
        } catch {
            throw error.cofferError("can't begin the transfer")
        }
    }

    // MARK: Progress

    /// Returns a function that reports progress to the client, if the client asked for that.
    ///
    /// - Returns: The function; any thread may call it, as often as it likes.
    package func progressReport(_ isWanted: Bool, total: Int64?) -> @Sendable (Int64) -> Void {
        guard isWanted, let progress else { return { _ in } }
        return { done in progress.report(done, of: total) }
    }
}

/// Receives the progress of a transfer, on any thread.
package protocol ProgressObserver: AnyObject, Sendable {
    func report(_ done: Int64, of total: Int64?)
}

extension CofferError {
    package static let cancelled = CofferError(.userCanceled, "the request was cancelled")
}
