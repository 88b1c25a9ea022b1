internal import CofferAccess
package import CofferCore
package import CofferWire

extension Vault {
    package func auditList(_ params: AuditListParameters, _ call: Call) throws(CofferError) -> Step {
        let limit = min(params.limit ?? .max, Limits.pageItems)
        do {
            return .done(Reply(try writtenAudit().page(after: params.after, params.query, limit: limit)))
        } catch {
            throw .init(mapping: error, "can't read the audit")
        }
    }

    package func auditVerify(_ params: AuditVerifyParameters, _ call: Call) throws(CofferError) -> Step {
        do { return .done(Reply(try writtenAudit().verify(after: params.after))) } catch {
            throw .init(mapping: error, "can't check the audit")
        }
    }

    /// Writes the records of earlier turns first, so that a client finds what it has just done.
    private func writtenAudit() throws(CofferError) -> AuditLog {
        let catalog = try catalog
        if !catalog.hasChanges && catalog.audit.isWaiting { observer?.commit() }
        return catalog.audit
    }
}
