internal import CofferAudit
internal import CofferCore
internal import CofferKeys
internal import CofferSystem
package import CofferVault
package import CofferWire

extension Vault {
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

    /// Seals the audit of an older version under the passcode, a slice in each turn, if the passcode was given.
    func sealAudit() {
        guard let catalog = openCatalog, openKeys?.opensNames == true, (try? catalog.audit.hasUntagged) == true else {
            return
        }
        chores.append(
            Chore(tenant: 0) { [self] _ in
                guard openCatalog === catalog else { return .done }
                let hasMore = try catalog.change { _ in try catalog.audit.sealUnderPasscode() }
                return .committed { [self] in
                    if hasMore { sealAudit() }
                    return .done
                }
            }
        )
    }

    /// Writes the records of earlier turns first, so that a client finds what it has just done.
    private func writtenAudit() throws(CofferError) -> AuditLog {
        let catalog = try catalog
        if !catalog.hasChanges && catalog.audit.isWaiting { observer?.commit() }
        return catalog.audit
    }
}
