package import CofferCore

/// The damage that was met in a database since it was last found intact.
///
/// While damage is known, a row that is not found by its key may exist all the same, because an index may be damaged.
/// This is kept in memory, and ends with a check of everything that finds nothing, or repairs all that it finds.
package final class FaultLog {
    /// A check of everything, a page at a time.
    private struct Survey {
        /// How much damage was known before it began.
        let mark: Int
        /// The cursor of its next page.
        var next: String?
        var isClean = true
    }

    private var count = 0
    private var survey: Survey?
    private var isSurveying = false
    /// What the last survey has cleared, until that is committed.
    private var ended: String?

    /// The first damage that was met, in words; `nil` if none is known.
    package private(set) var first: String?

    package init() {}

    /// The damage as a fault of the vault.
    package var fault: VaultFault? {
        first.map { VaultFault(what: "the catalog has damage that was not repaired: \($0)", hint: Self.hint) }
    }

    /// Records damage.
    ///
    /// - Parameter words: The damage, without any name of an item.
    package func note(_ words: String) {
        // A check reports damage in its findings, and whether it is repaired.
        if isSurveying { return }
        count += 1
        first = first ?? words
    }

    /// Records an error if it is damage.
    package func note(ifDamage error: any Error) {
        switch error {
        case let error as DatabaseError where error.kind == .damaged: note(error.message)
        case let error as CofferError where error.code == .decode: note("a row is damaged")
        default: break
        }
    }

    /// Refuses to create what may exist already.
    ///
    /// - Parameter subject: What is to be created, in quotes.
    /// - Throws: `decode` while damage is known.
    package func refuseNew(_ subject: @autoclosure () -> String) throws(CofferError) {
        guard first != nil else { return }
        throw CofferError(
            .decode,
            "can't store \(subject()): it may be there already, as the vault has damage that was not repaired yet",
            hint: Self.hint,
            operation: .write
        )
    }

    /// Replaces an error: while damage is known, a failed look-up does not prove that an item does not exist.
    package func doubt(_ error: CofferError) -> CofferError {
        guard first != nil, error.code == .itemNotFound else { return error }
        return CofferError(
            .decode,
            "\(error.message), as far as can be seen: the vault has damage that was not repaired yet",
            hint: Self.hint
        )
    }

    private static let hint = "'coffer doctor' shows the damage, and 'coffer doctor --repair' repairs it"

    // MARK: Ending

    /// Runs a step of a check, and clears the log when a check has covered everything.
    ///
    /// - Parameters:
    ///   - cursor: Where the step begins; `nil` at the beginning.
    ///   - step: The step.
    package func survey(from cursor: String?, _ step: () throws -> CheckPage) throws -> CheckPage {
        if cursor == nil {
            survey = Survey(mark: count)
        } else if survey?.next != cursor {
            survey = nil
        }
        isSurveying = true
        defer { isSurveying = false }
        let page = try step()
        survey?.next = page.cursor
        // No name leads to a row of the past.
        if page.stage != .past, let finding = page.findings.first(where: { !$0.isRepaired }) {
            survey?.isClean = false
            count += 1
            first = first ?? finding.damage.words
        }
        if page.cursor == nil { endSurvey() }
        return page
    }

    private func endSurvey() {
        if let survey, survey.isClean, survey.mark == count {
            ended = first
            first = nil
        }
        survey = nil
    }

    /// Completes after the commit of a repair.
    ///
    /// - Parameter isDone: Whether it is on the disk.
    package func settle(isDone: Bool) {
        if !isDone { first = first ?? ended }
        ended = nil
    }
}
