internal import CofferCore
internal import CofferSystem
internal import CofferWire

// Who may do what, told to who may know.

extension Server {
    /// The entitlements in force, from a place in their order on, as many as fit one answer.
    func listEntitlements(_ params: EntitlementListParameters) -> EntitlementPage {
        let rest = accessPolicy.entitlements.dropFirst(params.after)
        var byteCount = 0
        let page = rest.prefix { entitlement in
            byteCount += entitlement.jsonByteCount
            return byteCount <= Limits.pageJSONBytes
        }
        return EntitlementPage(
            entitlements: Array(page),
            trouble: entitlementTrouble,
            next: page.count < rest.count ? page.endIndex : nil
        )
    }

    /// What somebody may do, and which rule says so.
    func explainAccess(
        _ params: EntitlementExplainParameters,
        from caller: Caller
    ) throws(CofferError) -> AccessExplanation {
        let client =
            switch params.subject {
            case .caller: caller.identity
            case .process(let number): try client(of: number)
            case .unit(let name): accessPolicy.client(in: .unit(name))
            case .userUnit(let name): accessPolicy.client(in: .userUnit(name))
            }
        return accessPolicy.explanation(of: client)
    }

    /// Who a process would be if it connected now.
    private func client(of number: Int32) throws(CofferError) -> ClientIdentity {
        let subject = "process \(number)"
        do {
            guard let process = try HeldProcess(numbered: number) else { throw CofferError.noProcess(number) }
            let outcome = Result { try configuration.identify(try process.identity(), process) }
            // What was read of a process that has ended meanwhile may be another's, which has got its number.
            guard try process.isRunning else { throw CofferError.noProcess(number) }
            return try outcome.get()
        } catch {
            throw CofferError(mapping: error, "can't look at \(subject)")
        }
    }
}

extension Entitlement {
    /// The bytes that it has as JSON at most: a byte of a text may become six.
    fileprivate var jsonByteCount: Int {
        let texts = [path] + clients.map(\.description) + groups
        return texts.reduce(512) { $0 + 8 + 6 * $1.utf8.count }
    }
}

extension CofferError {
    fileprivate static func noProcess(_ number: Int32) -> CofferError {
        CofferError(
            .itemNotFound,
            "there is no process \(number)",
            hint: "it may have ended; a thread counts by the number of its process, and a unit by its name"
        )
    }
}
