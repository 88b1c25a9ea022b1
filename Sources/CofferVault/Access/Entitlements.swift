package import CofferCore
internal import CofferSystem
package import CofferWire

// What clients may do, for clients that may know it.

extension Vault {
    package func entitlementList(_ params: EntitlementListParameters, _ call: Call) -> Step {
        let rest = access.entitlements.dropFirst(params.after)
        var byteCount = 0
        let page = rest.prefix { entitlement in
            byteCount += entitlement.jsonByteCount
            return byteCount <= Limits.pageJSONBytes
        }
        return .done(
            Reply(
                EntitlementPage(
                    entitlements: Array(page),
                    trouble: entitlementTrouble,
                    next: page.count < rest.count ? page.endIndex : nil
                )
            )
        )
    }

    package func entitlementExplain(_ params: EntitlementExplainParameters, _ call: Call) throws(CofferError) -> Step {
        if let credential = params.credential {
            guard let unit = params.subject.unit else {
                throw CofferError(.param, "parameter 'credential': expected 'unit' or 'userUnit' beside it")
            }
            return .done(Reply(explainCredential(CredentialAddress(unit: unit.name, id: credential), unit.isOwners)))
        }
        let client =
            switch params.subject {
            case .caller: call.caller.identity
            case .process(let number): try client(of: number)
            case .unit(let name): access.client(in: .unit(name))
            case .userUnit(let name): access.client(in: .userUnit(name))
            }
        return .done(Reply(access.explanation(of: client)))
    }

    /// The rights of a unit when its service manager requests a credential for it, and the answer that the manager
    /// would get.
    private func explainCredential(_ address: CredentialAddress, _ isOwners: Bool) -> AccessExplanation {
        // The service manager is the client, not the user that the unit runs as.
        let client =
            isOwners
            ? access.client(in: .userUnit(address.unit))
            : ClientIdentity(userID: 0, groupID: 0, unit: address.unit)
        return access.explanation(of: client, observer?.answer(to: address, of: client))
    }

    /// The identity that a process would have if it connected now.
    private func client(of number: Int32) throws(CofferError) -> ClientIdentity {
        let subject = "process \(number)"
        do {
            guard let process = try HeldProcess(numbered: number) else { throw CofferError.noProcess(number) }
            return try settings.identity(of: process, try process.identity(), gone: .noProcess(number))
        } catch {
            throw CofferError(mapping: error, "can't look at \(subject)")
        }
    }
}

extension AccessSubject {
    /// The name of the unit, and whether it is a unit of the owner's service manager; `nil` if the subject is no unit.
    fileprivate var unit: (name: String, isOwners: Bool)? {
        switch self {
        case .caller, .process: nil
        case .unit(let name): (name, false)
        case .userUnit(let name): (name, true)
        }
    }
}

extension Entitlement {
    /// The maximum size of its JSON: escaping makes up to six bytes of one.
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
