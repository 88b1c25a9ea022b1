internal import CofferCore
internal import CofferFiles

/// Work on the catalog that may take long, and is done a slice at a time, so that nobody waits for it.
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

extension Server {
    /// The time that a slice takes of a turn.
    private static let sliceDuration = Duration.milliseconds(3)
    /// The entries after which a slice ends, however quick it is: their changes are written in one transaction.
    private static let sliceEntries = 512

    /// Does what is done in a slice at once, and the rest over the next turns.
    func perform(_ work: some SlicedWork, wantsProgress: Bool) throws(CofferError) -> Answer {
        let catalog: Catalog
        let undoneCount: Int
        do {
            catalog = try vault.catalog
            undoneCount = catalog.undoneCount
            if let reply = try Self.slice(work, catalog) { return .now(reply) }
        } catch {
            throw .init(mapping: error, "can't \(work.subject)")
        }
        return .later { (transfer) async throws(CofferError) in
            let report = self.progressReport(wantsProgress, total: nil, transfer)
            var safeCount = 0
            do {
                while true {
                    await Task.yield()
                    // The turn is over: what was done in it is on the disk, or nowhere.
                    if catalog.undoneCount != undoneCount { throw catalog.lastFailure ?? .changesUndone }
                    safeCount = work.changedCount
                    guard self.vault.openCatalog === catalog else { throw CofferError.vaultIsGone }
                    try self.checkWanted(transfer)
                    report(Int64(work.doneCount))
                    if let reply = try Self.slice(work, catalog) { return reply }
                }
            } catch {
                throw CofferError(mapping: error, "can't \(work.subject)").after(safeCount)
            }
        }
    }

    private static func slice(_ work: some SlicedWork, _ catalog: Catalog) throws -> Reply? {
        let clock = ContinuousClock()
        let end = clock.now + sliceDuration
        var count = 0
        return try work.slice(catalog) {
            count += 1
            return count >= sliceEntries || clock.now >= end
        }
    }
}

extension CofferError {
    /// The same error, saying what of the work was done before and stays.
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

    fileprivate static let changesUndone = CofferError(.io, "the changes could not be written to the disk")
}
