package import CofferAccess
package import CofferCore
internal import CofferSystem
internal import Synchronization

/// One request while it is carried out: who has sent it, what came with it, and what is to be done when it ends.
package final class Call {
    /// Who asks.
    package let caller: Caller
    /// What came with it.
    package let attachments: Attachments
    /// The lease that lets it be carried out, if it is one that does.
    package var lease: Lease?
    /// What it was about to do, for the text of errors that say nothing of that.
    package var subject = "can't carry out the request"
    /// Whether the client wants to know how far it is, and by whom it is told.
    private let progress: (any ProgressObserver)?
    /// Asks whether the other side of the connection is gone.
    private let isConnected: () -> Bool

    /// What is told where all that it has changed since the last commit is undone.
    package var explainUndoing: (CofferError) -> CofferError = { $0 }

    private var endings: [() -> Void] = []
    private var isInVain: () -> CofferError? = { nil }
    private var cancellation: Cancellation?
    /// Whether the client has taken it back, or is gone.
    package private(set) var isCancelled = false
    /// What it wants to give back before it ends.
    package private(set) var released: [Claim] = []
    /// What is kept when it ends.
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
        self.isConnected = isConnected
    }

    // MARK: Its end

    /// Has something done when the request ends, however it ends; the last first.
    func atEnd(_ body: @escaping () -> Void) { endings.append(body) }

    /// Does what is to be done at its end.
    package func end() {
        while let ending = endings.popLast() { ending() }
    }

    // MARK: Claims

    /// Gives back what it has claimed, before its end.
    func release(_ claim: Claim) { released.append(claim) }

    /// Keeps what it has claimed beyond its end.
    func keep(_ claim: Claim) { kept.append(claim) }

    /// Takes note that what was given back is.
    package func takeReleased() -> [Claim] {
        defer { released = [] }
        return released
    }

    /// Says what ends the waiting for a claim.
    func waits(unless isInVain: @escaping () -> CofferError?) { self.isInVain = isInVain }

    /// Why it need not wait any longer, if it need not.
    package var endOfWaiting: CofferError? { isCancelled ? .cancelled : isInVain() }

    // MARK: Cancelling

    /// Is not wanted any more.
    package func cancel() {
        isCancelled = true
        cancellation?.cancel()
    }

    /// Ends it, if it is not wanted any more.
    func checkWanted() throws(CofferError) {
        if isCancelled { throw .cancelled }
    }

    /// Ends it, if its sender is gone: the event may have come, and its tenant not had its turn.
    func checkSender() throws(CofferError) {
        if !isConnected() { cancel() }
        try checkWanted()
    }

    /// What ends the waiting of another thread when the request is not wanted any more.
    func makeCancellation() throws(CofferError) -> Cancellation {
        if let cancellation { return cancellation }
        do {
            let cancellation = try Cancellation()
            self.cancellation = cancellation
            if isCancelled { cancellation.cancel() }
            return cancellation
        } catch {
            throw error.cofferError("can't begin the transfer")
        }
    }

    // MARK: Progress

    /// What tells the client how far it is, if that is wanted.
    ///
    /// - Returns: May be called from any thread, as often as there is something to say.
    func progressReport(_ isWanted: Bool, total: Int64?) -> @Sendable (Int64) -> Void {
        guard isWanted, let progress else { return { _ in } }
        return { done in progress.report(done, of: total) }
    }
}

/// Gets word of how far a transfer has come, on any thread.
package protocol ProgressObserver: AnyObject, Sendable {
    func report(_ done: Int64, of total: Int64?)
}

extension CofferError {
    /// The answer to a request that its client has taken back.
    package static let cancelled = CofferError(.userCanceled, "the request was cancelled")
}
