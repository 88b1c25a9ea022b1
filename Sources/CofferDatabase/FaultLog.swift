package import CofferCore

/// What damage was met in a database since it was last found whole.
///
/// While there is any, a row that is not found by its key may be there all the same: an index may be what is damaged. It is
/// kept in memory, and ends with a check of everything that finds nothing, or repairs all that it finds.
package final class FaultLog {
    /// A check that goes through everything, a page at a time.
    private struct Survey {
        /// How much damage was met before it began.
        let mark: Int
        /// What its next page has to begin with.
        var next: String?
        var isClean = true
    }

    private var count = 0
    private var survey: Survey?
    private var isSurveying = false
    /// What the last survey has ended, until that is on the disk.
    private var ended: String?

    /// The first damage that was met, in words; `nil` where none is known.
    package private(set) var first: String?

    package init() {}

    /// The damage, as the vault's state tells of it.
    package var fault: VaultFault? {
        first.map { VaultFault(what: "the catalog has damage that was not repaired: \($0)", hint: Self.hint) }
    }

    /// Notes damage that was met.
    ///
    /// - Parameter words: What it is, without a name of anybody's.
    package func note(_ words: String) {
        // A check says by its findings what is wrong, and whether it is mended.
        if isSurveying { return }
        count += 1
        first = first ?? words
    }

    /// Notes what was thrown, if it speaks of damage.
    package func note(ifDamage error: any Error) {
        switch error {
        case let error as DatabaseError where error.kind == .damaged: note(error.message)
        case let error as CofferError where error.code == .decode: note("a row is damaged")
        default: break
        }
    }

    /// Refuses to make what may be there already.
    ///
    /// - Parameter subject: What is to be made, in quotes.
    /// - Throws: `decode` while damage is known.
    package func refuseNew(_ subject: String) throws(CofferError) {
        guard first != nil else { return }
        throw CofferError(
            .decode,
            "can't store \(subject): it may be there already, as the vault has damage that was not repaired yet",
            hint: Self.hint,
            operation: .write
        )
    }

    /// What is answered in the place of an error: that nothing was found says nothing while damage is known.
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

    /// Makes a step of a check, and ends what is known when a check has been everywhere.
    ///
    /// - Parameters:
    ///   - cursor: Where the step begins; `nil` at the beginning.
    ///   - step: The step.
    /// - Returns: What the step returns.
    /// - Throws: What the step throws.
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
        if let finding = page.findings.first(where: { !$0.isRepaired }) {
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

    /// Says how the commit ended that a repair was part of.
    ///
    /// - Parameter isDone: Whether it is on the disk.
    package func settle(isDone: Bool) {
        if !isDone { first = first ?? ended }
        ended = nil
    }
}
