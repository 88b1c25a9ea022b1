internal import CofferCore
package import CofferSystem

/// Long work on the catalog, which is done in slices so that it blocks no other request.
///
/// Each slice is part of the transaction of its turn. If a later slice fails, the earlier ones stay committed.
package protocol SlicedWork: AnyObject {
    /// The number of entries that were scanned.
    var doneCount: Int { get }

    /// The number of entries that were changed.
    var changedCount: Int { get }

    /// Does a slice of the work.
    ///
    /// - Parameter isEnough: Called after each entry; tells whether the slice has to end.
    /// - Returns: The answer, if the work is done.
    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply?
}

extension SlicedWork {
    package var changedCount: Int { 0 }
}

/// The time that a request may take before other tenants get their quantum.
package struct Quantum {
    private let clock: BootClock
    private let start: UInt64
    private let duration: Duration
    private let othersWait: () -> Bool
    private var count = 0

    /// Begins now.
    ///
    /// - Parameters:
    ///   - duration: Its length.
    ///   - clock: The clock that it is measured by.
    ///   - othersWait: Whether another tenant has requests: it asks the kernel, and carries out nothing.
    package init(_ duration: Duration, of clock: BootClock, othersWait: @escaping () -> Bool) {
        (self.duration, self.clock, start) = (duration, clock, clock.now)
        self.othersWait = othersWait
    }

    /// Whether it has ended.
    ///
    /// Called after each entry.
    mutating func isOver() -> Bool {
        count += 1
        if count >= Limits.entriesPerQuantum || clock.elapsed(since: start) >= duration { return true }
        return count.isMultiple(of: Limits.entriesPerPoll) && othersWait()
    }
}

extension HandlerFamily {
    /// Carries out work that may take longer than a quantum.
    ///
    /// - Parameter wantsProgress: Whether the client is notified of its progress.
    package func perform(_ work: some SlicedWork, _ call: Call, wantsProgress: Bool = false) throws -> Step {
        let catalog = try catalog
        let report = call.progressReport(wantsProgress, total: nil)
        var safeCount = 0
        call.explainUndoing = { $0.after(safeCount) }
        func resume() throws -> Step {
            do {
                safeCount = work.changedCount
                guard openCatalog === catalog else { throw CofferError.vaultIsGone }
                try call.checkWanted()
                report(Int64(work.doneCount))
                return try begin()
            } catch {
                throw CofferError(mapping: error, call.subject).after(safeCount)
            }
        }
        func begin() throws -> Step {
            let changedCount = work.changedCount
            if let reply = try work.slice(catalog, until: { call.quantum?.isOver() ?? false }) { return .done(reply) }
            // Other tenants get their quantum between the commit and the next slice.
            return work.changedCount > changedCount ? .committed { .again(resume) } : .again(resume)
        }
        let place = shared.claims.placeForSlicedWork()
        guard !shared.claims.isTaken(place) else {
            return .claim(place) { [self] in
                guard openCatalog === catalog else { throw CofferError.vaultIsGone }
                return try begin()
            }
        }
        // Most work is done with its first slice. Until that ends, nothing else can take the place.
        switch try begin() {
        case .done(let reply): return .done(reply)
        case let next:
            let held = Held(next)
            return .claim(place) {
                guard let next = held.take() else { throw CofferError.takenTwice }
                return next
            }
        }
    }
}

extension CofferError {
    /// The error, with the number of changes before it, which stay committed.
    fileprivate func after(_ changedCount: Int) -> CofferError {
        if changedCount == 0 { return self }
        var error = self
        error.message += "; \(changedCount) entries were done before, and stay so"
        return error
    }
}
