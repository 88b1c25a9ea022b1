public import CofferCore
public import CofferWire

extension BlockingClient {
    /// A page of what is written of clients, in the order in which it is looked at.
    ///
    /// - Parameter count: How many entitlements to pass over: `next` of the page before.
    /// - Throws: `missingEntitlement` for who may not administer the vault.
    public func entitlements(after count: Int = 0) throws(CofferError) -> EntitlementPage {
        try call(.entitlementList, EntitlementListParameters(after: count), returning: EntitlementPage.self).value
    }

    /// What somebody may do, and which rule says so.
    ///
    /// - Parameters:
    ///   - subject: Whose rights: one's own, if nothing is said.
    ///   - credential: The credential of a unit, by what the unit calls it: what would come of it now.
    /// - Throws: `itemNotFound` where there is no such process; `missingEntitlement` for who may not administer the vault, but
    ///   for one's own rights.
    public func explainAccess(
        of subject: AccessSubject = .caller,
        credential: String? = nil
    ) throws(CofferError) -> AccessExplanation {
        let params = EntitlementExplainParameters(subject, credential: credential)
        return try call(.entitlementExplain, params, returning: AccessExplanation.self).value
    }
}
