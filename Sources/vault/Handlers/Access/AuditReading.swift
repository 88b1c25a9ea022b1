internal import CofferAudit
internal import CofferCore
internal import CofferKeys
internal import CofferSystem
package import CofferVault
package import CofferWire

extension AccessHandlers {
    package func auditList(_ params: AuditListParameters, _ call: Call) throws -> Step {
        call.isFor("can't read the audit")
        let limit = min(params.limit ?? .max, Limits.pageItems)
        let reader = (client: call.caller.recorded, time: wallClockMilliseconds())
        call.caller.subscription.lastAuditReading = reader.time
        return .done(Reply(try writtenAudit().page(after: params.after, params.query, limit: limit, for: reader)))
    }

    package func auditVerify(_ params: AuditVerifyParameters, _ call: Call) throws -> Step {
        call.isFor("can't check the audit")
        return .done(Reply(try writtenAudit().verify(after: params.after)))
    }

    /// Writes the records of earlier turns first, so that a client finds what it has just done.
    private func writtenAudit() throws(CofferError) -> AuditLog {
        let catalog = try catalog
        if !catalog.hasChanges && catalog.audit.isWaiting { observer?.commit() }
        return catalog.audit
    }
}
