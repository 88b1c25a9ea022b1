public import CofferCore
internal import CofferWire

extension CofferClient {
    /// A page of what was done with the vault, or refused, the oldest first.
    ///
    /// - Parameters:
    ///   - query: Which records are wanted.
    ///   - number: The record behind which it begins: `next` of the page before; 0 for the oldest.
    /// - Throws: `missingEntitlement` for who may not read the audit.
    public func auditRecords(
        _ query: AuditQuery = AuditQuery(),
        after number: Int64 = 0
    ) async throws(CofferError) -> AuditPage {
        try await call(.auditList, AuditListParameters(after: number, query), returning: AuditPage.self).value
    }

    /// Checks some records: that they are what was written, in their places.
    ///
    /// - Parameter number: The last record that was checked: `next` of the part before; 0 to begin.
    /// - Throws: `missingEntitlement` for who may not read the audit.
    public func verifyAudit(after number: Int64 = 0) async throws(CofferError) -> AuditVerification {
        try await call(.auditVerify, AuditVerifyParameters(after: number), returning: AuditVerification.self).value
    }
}
