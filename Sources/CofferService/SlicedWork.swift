internal import CofferCore
internal import CofferFiles
internal import CofferSystem

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

extension SlicedWork {
    var changedCount: Int { 0 }
}

/// The time that slices take of a turn, all of them together, however many works are under way.
///
/// A work that goes on gets its part in every turn, and be it one entry: it comes to its end, whatever others do. The
/// tenants' parts are equal, however many works they have.
final class SliceBudget {
    private static let turn = Duration.milliseconds(3)

    /// How many works go on, of each tenant that has one.
    private var counts: [Int: Int] = [:]
    private var waiting = FairQueue<CheckedContinuation<Void, Never>>()
    private var number: UInt64 = 0
    private var left = turn

    /// What is left in a turn for the first slices of new works.
    ///
    /// - Parameter number: The turn's number.
    /// - Returns: `nil` where nothing is.
    func beginning(in number: UInt64) -> Duration? {
        if number != self.number {
            self.number = number
            left = Self.turn
        }
        return left > .zero ? left : nil
    }

    /// Takes what a first slice took from what is left.
    func spend(_ duration: Duration) { left -= duration }

    /// The part of one of the works of a tenant that go on.
    func part(for tenant: Int) -> Duration { Self.turn / max(1, counts.count * counts[tenant, default: 1]) }

    /// Whether one more work of a tenant may begin: what it has found so far is held in memory.
    func hasRoom(for tenant: Int) -> Bool {
        let used = counts.values.reduce(0, +)
        return FairShare.left(holding: counts[tenant] ?? 0, used: used, of: Limits.slicedWorks) > 0
    }

    /// Waits until a work may go on over turns.
    ///
    /// Each `enter` is followed by one ``leave(_:)``.
    ///
    /// - Parameter tenant: Whose work it is.
    func enter(for tenant: Int, isolation: isolated (any Actor)? = #isolation) async {
        // Decided where nobody comes in between: the call itself may let others go first.
        await withCheckedContinuation { turn in
            guard hasRoom(for: tenant) else { return waiting.append(turn, for: tenant) }
            counts[tenant, default: 0] += 1
            turn.resume()
        }
    }

    /// Lets those go on for whom there is room now.
    func leave(_ tenant: Int) {
        let count = counts[tenant, default: 0] - 1
        counts[tenant] = count > 0 ? count : nil
        while let next = waiting.removeFirst(where: hasRoom) {
            counts[next.party, default: 0] += 1
            next.element.resume()
        }
    }
}

extension Server {
    /// The entries after which a slice ends, however quick it is: their changes are written in one transaction.
    private static let sliceEntries = 512
    /// The entries after which it is looked whether another tenant waits, for whom the slice ends, too.
    private static let entriesPerLook = 8

    /// Does what is done in a slice at once, and the rest over the next turns.
    func perform(
        _ work: some SlicedWork,
        for caller: Caller,
        wantsProgress: Bool = false
    ) throws(CofferError) -> Answer {
        let catalog: Catalog
        do {
            catalog = try vault.catalog
            // A connection with many requests at once has the others of this turn wait as well.
            if slices.hasRoom(for: caller.tenant), let duration = slices.beginning(in: loop.turn) {
                let clock = ContinuousClock()
                let start = clock.now
                defer { slices.spend(clock.now - start) }
                if let reply = try slice(work, catalog, for: caller.tenant, within: duration) { return .now(reply) }
            }
        } catch {
            throw .init(mapping: error, "can't \(work.subject)")
        }
        let firstCommit = catalog.pendingCommit
        return .later { (transfer) async throws(CofferError) in
            let report = self.progressReport(wantsProgress, total: nil, transfer)
            var commit = firstCommit
            var safeCount = 0
            await self.slices.enter(for: caller.tenant)
            defer { self.slices.leave(caller.tenant) }
            do {
                while true {
                    await Task.yield()
                    // What was done in a turn is on the disk, or nowhere.
                    try await commit?.wait()
                    safeCount = work.changedCount
                    guard self.vault.openCatalog === catalog else { throw CofferError.vaultIsGone }
                    try self.checkWanted(transfer)
                    report(Int64(work.doneCount))
                    let part = self.slices.part(for: caller.tenant)
                    let reply = try self.slice(work, catalog, for: caller.tenant, within: part)
                    commit = catalog.pendingCommit
                    guard let reply else { continue }
                    try await commit?.wait()
                    return reply
                }
            } catch {
                throw CofferError(mapping: error, "can't \(work.subject)").after(safeCount)
            }
        }
    }

    private func slice(
        _ work: some SlicedWork,
        _ catalog: Catalog,
        for tenant: Int,
        within duration: Duration
    ) throws -> Reply? {
        let clock = ContinuousClock()
        let end = clock.now + duration
        var count = 0
        return try work.slice(catalog) {
            count += 1
            if count >= Self.sliceEntries || clock.now >= end { return true }
            return count.isMultiple(of: Self.entriesPerLook) && othersWait(besides: tenant)
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
}
