public import CofferCore
internal import CofferWire

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
    /// - Parameter subject: Whose rights: one's own, if nothing is said.
    /// - Throws: `itemNotFound` where there is no such process; `missingEntitlement` for who may not administer the vault, but
    ///   for one's own rights.
    public func explainAccess(of subject: AccessSubject = .caller) throws(CofferError) -> AccessExplanation {
        let params = EntitlementExplainParameters(subject)
        return try call(.entitlementExplain, params, returning: AccessExplanation.self).value
    }
}
