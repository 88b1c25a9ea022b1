internal import CofferCore
internal import CofferSystem
package import CofferVault
package import CofferWire

// What clients may do, for clients that may know it.

extension AccessHandlers {
    package func entitlementList(_ params: EntitlementListParameters, _ call: Call) -> Step {
        let rest = vault.access.entitlements.dropFirst(params.after)
        let page = rest.firstPage { $0.jsonByteCount }
        let result = EntitlementPage(
            entitlements: page,
            trouble: vault.entitlementTrouble,
            next: page.count < rest.count ? rest.startIndex + page.count : nil
        )
        return .done(Reply(result))
    }

    package func entitlementExplain(_ params: EntitlementExplainParameters, _ call: Call) throws -> Step {
        if let credential = params.credential {
            let (unit, client) = try requester(of: params.subject)
            let address = CredentialAddress(unit: unit, id: credential)
            return .done(Reply(vault.access.explanation(of: client, observer?.answer(to: address, of: client))))
        }
        let client =
            switch params.subject {
            case .caller: call.caller.identity
            case .process(let number): try client(of: number, call)
            case .unit(let name): vault.access.client(in: .unit(name))
            case .userUnit(let name): vault.access.client(in: .userUnit(name))
            }
        return .done(Reply(vault.access.explanation(of: client)))
    }

    /// A unit, and the client that requests credentials for it: its service manager, not the user that it runs as.
    private func requester(of subject: AccessSubject) throws(CofferError) -> (unit: String, client: ClientIdentity) {
        switch subject {
        case .unit(let name): return (name, ClientIdentity(userID: 0, groupID: 0, unit: name))
        case .userUnit(let name): return (name, vault.access.client(in: .userUnit(name)))
        case .caller, .process:
            throw CofferError(.param, "parameter 'credential': expected 'unit' or 'userUnit' beside it")
        }
    }

    /// The identity that a process would have if it connected now.
    private func client(of number: Int32, _ call: Call) throws -> ClientIdentity {
        call.isFor("can't look at process \(number)")
        guard let process = try HeldProcess(numbered: number) else { throw CofferError.noProcess(number) }
        return try settings.identity(of: process, try process.identity(), gone: .noProcess(number))
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
