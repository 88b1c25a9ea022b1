internal import CofferAccess
internal import CofferCore
package import CofferWire

extension Vault {
    package func auditList(_ params: AuditListParameters, _ call: Call) throws -> Step {
        call.subject = "can't read the audit"
        let limit = min(params.limit ?? .max, Limits.pageItems)
        return .done(Reply(try writtenAudit().page(after: params.after, params.query, limit: limit)))
    }

    package func auditVerify(_ params: AuditVerifyParameters, _ call: Call) throws -> Step {
        call.subject = "can't check the audit"
        return .done(Reply(try writtenAudit().verify(after: params.after)))
    }

    /// Writes the records of earlier turns first, so that a client finds what it has just done.
    private func writtenAudit() throws(CofferError) -> AuditLog {
        let catalog = try catalog
        if !catalog.hasChanges && catalog.audit.isWaiting { observer?.commit() }
        return catalog.audit
    }
}
