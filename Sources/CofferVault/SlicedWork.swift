internal import CofferCore
internal import CofferFiles
internal import CofferSystem

/// Work on the catalog that may take long, and is done a slice at a time, so that no other request waits for it.
///
/// Each slice is a transaction of its turn of the event loop: what came before the last one stays, however it ends.
protocol SlicedWork: AnyObject {
    /// What it is, for a sentence that begins with "can't".
    var subject: String { get }

    /// How many entries were looked at.
    var doneCount: Int { get }

    /// How many entries were changed.
    var changedCount: Int { get }

    /// Does some more.
    ///
    /// - Parameter isEnough: Asked after each entry.
    /// - Returns: The answer, where it is done.
    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply?
}

extension SlicedWork {
    var changedCount: Int { 0 }
}

/// The time that a request may take until others have their turn.
package struct Quantum {
    private static let clock = ContinuousClock()

    private let end: ContinuousClock.Instant
    private let othersWait: () -> Bool
    private var count = 0

    /// Begins now.
    ///
    /// - Parameters:
    ///   - duration: How long it lasts.
    ///   - othersWait: Whether another tenant has something to do: it asks the kernel, and carries out nothing.
    package init(_ duration: Duration, othersWait: @escaping () -> Bool) {
        end = Self.clock.now + duration
        self.othersWait = othersWait
    }

    /// Without others.
    package static var unshared: Quantum { Quantum(.milliseconds(3)) { false } }

    /// Whether it is over.
    ///
    /// Asked after each entry.
    mutating func isOver() -> Bool {
        count += 1
        if count >= Limits.entriesPerQuantum || Self.clock.now >= end { return true }
        return count.isMultiple(of: Limits.entriesPerPoll) && othersWait()
    }
}

extension Vault {
    /// Does work that may take longer than a quantum.
    ///
    /// - Parameter wantsProgress: Whether the client is told of it.
    func perform(
        _ work: some SlicedWork,
        _ call: Call,
        wantsProgress: Bool = false
    ) throws(CofferError) -> Step {
        let catalog = try catalog
        let report = call.progressReport(wantsProgress, total: nil)
        var safeCount = 0
        call.explainUndoing = { $0.after(safeCount) }
        func goOn() throws -> Step {
            do {
                safeCount = work.changedCount
                guard openCatalog === catalog else { throw CofferError.vaultIsGone }
                try call.checkWanted()
                report(Int64(work.doneCount))
                return try begin()
            } catch {
                throw CofferError(mapping: error, "can't \(work.subject)").after(safeCount)
            }
        }
        func begin() throws -> Step {
            let changedCount = work.changedCount
            if let reply = try work.slice(catalog, until: { quantum.isOver() }) { return .done(reply) }
            // Others have their turn between the commit and the next slice.
            return work.changedCount > changedCount ? .committed { .again(goOn) } : .again(goOn)
        }
        do { return try begin() } catch { throw .init(mapping: error, "can't \(work.subject)") }
    }
}

extension CofferError {
    /// The error, with what was done before it and stays so.
    fileprivate func after(_ changedCount: Int) -> CofferError {
        if changedCount == 0 { return self }
        return CofferError(
            code: code,
            message: "\(message); \(changedCount) entries were done before, and stay so",
            hint: hint,
            retry: retry,
            cocoaCode: cocoaCode,
            need: need
        )
    }
}
