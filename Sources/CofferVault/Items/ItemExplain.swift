package import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
package import CofferWire

extension Vault {
    package func itemExplain(_ params: ItemExplainParameters, _ call: Call) throws(CofferError) -> Step {
        let caller = call.caller
        let sample = call.attachments.takePayload()
        try call.attachments.refuseLeftovers(of: .itemExplain)
        let group = try caller.group(params.wishes.group)
        var located: Located?
        if let name = params.name { located = try stored(name, in: group) }
        let byteCount = params.byteCount ?? located?.info.byteCount ?? Int64(sample.byteCount)
        var wishes = params.wishes
        wishes.kind = wishes.kind ?? located?.info.kind
        let content: ContentFacts
        switch sample {
        case .some(let sample): content = sample.withBytes { ContentFacts($0, size: .exactly(byteCount)) }
        case .none: content = ContentFacts(size: .exactly(byteCount))
        }
        let client = params.client.map { ClientIdentity($0, of: caller.identity) } ?? caller.identity
        let verdict = try route(
            params.name,
            in: group,
            over: located?.info,
            wishes,
            content,
            for: client,
            entitled: (try? access.rights(of: client))?.protection
        )
        let present = try keys.state
        let state = params.state ?? present
        let access = access(to: located?.item, orTo: verdict.protection, of: group, by: client, in: state)
        return .done(Reply(Explanation(placement: Placement(verdict), stored: located?.info, access: access)))
    }

    /// The access of a client to an item, or to one that would be stored.
    private func access(
        to item: StoredItem?,
        orTo protection: Protection,
        of group: String,
        by client: ClientIdentity,
        in state: VaultState
    ) -> ItemAccess {
        let readable = (item?.protection ?? protection).readable
        // Missing rights come first: they don't depend on the state.
        func answer(_ method: Method, _ refusal: ErrorCode?) -> ItemAccess.Answer {
            let denied = denial(of: method, to: client, in: group) ?? Gate.refusal(of: method, in: state)
            return ItemAccess.Answer(denied?.code ?? refusal)
        }
        guard let item else {
            let write = answer(.itemPut, protection.refusal(for: .create, in: state))
            return ItemAccess(state: state, read: nil, write: write, remove: nil, readable: readable)
        }
        let control = item.accessControl
        let wantsPresence: ErrorCode? = control == nil ? nil : .interactionRequired
        let protectedWrites = control?.flags.contains(.protectWrites) == true ? wantsPresence : nil
        return ItemAccess(
            state: state,
            read: answer(.itemGet, item.protection.refusal(for: .read, in: state) ?? wantsPresence),
            write: answer(.itemPut, item.protection.refusal(for: .write, in: state) ?? protectedWrites),
            remove: answer(.itemRemove, protectedWrites),
            readable: readable
        )
    }

    /// Why a client may not use a method on the items of a group in any state; `nil` if it may.
    private func denial(of method: Method, to client: ClientIdentity, in group: String) -> CofferError? {
        do throws(CofferError) {
            let caller = Caller(client, try access.rights(of: client))
            _ = try caller.group(group)
            return Gate.refusal(of: method, [:], to: caller.rights, and: .nothing)
        } catch {
            return error
        }
    }
}

extension StoredItem {
    var protection: Protection {
        switch self {
        case .keychain(let item): .keychain(item.accessibility)
        case .file(let file): .file(file.protectionClass)
        }
    }

    var accessControl: AccessControl? {
        switch self {
        case .keychain(let item): item.attributes.accessControl
        case .file: nil
        }
    }
}

extension Protection {
    /// Why the key for an operation is not available in a state; `nil` if it is.
    fileprivate func refusal(for operation: ItemOperation, in state: VaultState) -> ErrorCode? {
        let isThere =
            switch self {
            case .keychain(let accessibility): accessibility.isAvailable(in: state)
            case .file(let protectionClass): protectionClass.permits(operation, in: state)
            }
        return isThere ? nil : .interactionNotAllowed
    }
}

extension ClientIdentity {
    /// A client that fits a pattern, and otherwise equals another one.
    fileprivate init(_ pattern: ClientPattern, of other: ClientIdentity) {
        self.init(userID: other.userID, groupID: other.groupID)
        fit(pattern)
    }
}
