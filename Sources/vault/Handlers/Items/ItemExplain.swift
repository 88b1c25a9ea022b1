internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
package import CofferVault
package import CofferWire

extension ItemHandlers {
    package func itemExplain(_ params: ItemExplainParameters, _ call: Call) throws -> Step {
        let caller = call.caller
        let sample = try call.attachments.takePayload().orEmpty()
        let group = try caller.group(params.wishes.group)
        let spot = try params.name.map { try catalog.files.spot(of: $0, in: group) }
        let present = try params.name.flatMap { try vault.present($0, in: group, at: spot) }
        let located = present?.located
        let byteCount = params.byteCount ?? located?.info.byteCount ?? Int64(sample.count)
        let client = params.client.map { ClientIdentity($0, of: caller.identity) } ?? caller.identity
        let kept = params.isOnlyName && sample.count == 0 ? located.flatMap(keptVerdict) : nil
        let verdict =
            try kept
            ?? sample.withBytes { content in
                try route(
                    params.name,
                    in: group,
                    at: spot,
                    over: present,
                    params.wishes,
                    content,
                    size: .exactly(byteCount),
                    for: client,
                    entitled: (try? vault.access.rights(of: client))?.protection
                )
            }
        let state = try params.state ?? keys.state
        let access =
            if let present, present.isSealed {
                access(toSealed: present.protection, params.name, of: group, by: client, in: state)
            } else {
                access(to: located?.item, orTo: verdict.protection, params.name, of: group, by: client, in: state)
            }
        let placement = Placement(verdict)
        return .done(
            Reply(
                Explanation(
                    placement: placement,
                    stored: located?.info,
                    isSealed: present?.isSealed ?? false,
                    isKept: kept != nil,
                    access: access
                )
            )
        )
    }

    /// The verdict of the put that stored an item.
    private func keptVerdict(of located: Vault.Located) -> Verdict? {
        Verdict(located.item.decision, of: located.info.protection, vault.routing.bounds)
    }

    package func itemSimulate(_ params: ItemSimulateParameters, _ call: Call) throws -> Step {
        call.isFor("can't simulate the items")
        let caller = call.caller.identity
        let client = params.client.map { ClientIdentity($0, of: caller) } ?? caller
        let group = try call.group(params.group)
        let state = try params.state ?? keys.state
        let listing = try ItemListing(
            ItemListParameters(after: params.after, limit: params.limit),
            in: [group],
            describe: { item, _ in
                let name = try? ItemName(item.path)
                let access = self.access(to: item, orTo: item.protection, name, of: group, by: client, in: state)
                return SimulatedItem(item, access)
            },
            page: {
                Reply(SimulationPage(items: $0, next: $1, damagedCount: $2.damagedCount, sealedCount: $2.sealedCount))
            }
        )
        return try perform(listing, call)
    }

    /// The access of a client to an item, or to one that would be stored.
    private func access(
        to item: StoredItem?,
        orTo protection: Protection,
        _ name: ItemName?,
        of group: String,
        by client: ClientIdentity,
        in state: VaultState
    ) -> ItemAccess {
        let readable = (item?.protection ?? protection).readable
        func answer(_ method: Method, _ refusal: ErrorCode?) -> ItemAccess.Answer {
            self.answer(method, refusal, to: name, for: client, in: group, state)
        }
        func keyRefusal(_ protection: Protection, for operation: ItemOperation) -> ErrorCode? {
            protection.permits(operation, in: state) ? nil : .interactionNotAllowed
        }
        guard let item else {
            let write = answer(.itemPut, keyRefusal(protection, for: .create))
            return ItemAccess(state: state, read: nil, write: write, remove: nil, readable: readable)
        }
        let control = item.accessControl
        let wantsPresence: ErrorCode? = control == nil ? nil : .interactionRequired
        let protectedWrites = control?.flags.contains(.protectWrites) == true ? wantsPresence : nil
        return ItemAccess(
            state: state,
            read: answer(.itemGet, keyRefusal(item.protection, for: .read) ?? wantsPresence),
            write: answer(.itemPut, keyRefusal(item.protection, for: .create) ?? protectedWrites),
            remove: answer(.itemRemove, removalRefusal(item.protection, in: state) ?? protectedWrites),
            readable: readable
        )
    }

    /// The access of a client to an item of which only the protection is known before the first unlock: whether it has an
    /// access control is not.
    private func access(
        toSealed protection: Protection,
        _ name: ItemName?,
        of group: String,
        by client: ClientIdentity,
        in state: VaultState
    ) -> ItemAccess {
        func refusal(for operation: ItemOperation) -> ErrorCode? {
            protection.permits(operation, in: state) ? nil : .interactionNotAllowed
        }
        func answer(_ method: Method, _ refusal: ErrorCode?) -> ItemAccess.Answer {
            self.answer(method, refusal, to: name, for: client, in: group, state)
        }
        return ItemAccess(
            state: state,
            read: answer(.itemGet, refusal(for: .read)),
            write: answer(.itemPut, refusal(for: .create)),
            remove: answer(.itemRemove, removalRefusal(protection, in: state)),
            readable: protection.readable
        )
    }

    /// Why an item of a protection may not be removed in a state: before the first unlock, it is not known whether a
    /// secret has an access control that protects it.
    private func removalRefusal(_ protection: Protection, in state: VaultState) -> ErrorCode? {
        let isKnown = state != .beforeFirstUnlock || protection.isNamedInEveryState
        return isKnown || protection.store == .file ? nil : .interactionNotAllowed
    }

    /// The answer to a method: missing rights come first, because they don't depend on the state.
    private func answer(
        _ method: Method,
        _ refusal: ErrorCode?,
        to name: ItemName?,
        for client: ClientIdentity,
        in group: String,
        _ state: VaultState
    ) -> ItemAccess.Answer {
        let denied = denial(of: method, to: name, for: client, in: group) ?? Gate.refusal(of: method, in: state)
        return ItemAccess.Answer(denied?.code ?? refusal)
    }

    /// Why a client may not use a method on an item of a group in any state; `nil` if its own rights or a rule permit it.
    private func denial(
        of method: Method,
        to name: ItemName?,
        for client: ClientIdentity,
        in group: String
    ) -> CofferError? {
        do throws(CofferError) {
            let caller = Caller(client, try vault.rights(of: client))
            if let name {
                let params: JSONObject = ["name": .string(name.path), "group": .string(group)]
                switch vault.cover(of: method, params, from: caller, isProgramHeld: true) {
                case .item: return nil
                case .sealed(let error): return error
                case .nothing, .somethingElse: break
                }
            }
            _ = try caller.group(group)
            return Gate.refusal(of: method, [:], to: caller.rights, and: .nothing)
        } catch {
            return error
        }
    }
}

extension ItemExplainParameters {
    /// Whether nothing is asked about a put, only why an item is where it is.
    fileprivate var isOnlyName: Bool {
        byteCount == nil && wishes == PlacementOptions(group: wishes.group)
    }
}

extension SimulatedItem {
    fileprivate init(_ item: StoredItem, _ access: ItemAccess) {
        self.init(
            name: item.path,
            protection: item.protection,
            read: access.read ?? .yes,
            write: access.write,
            remove: access.remove ?? .yes
        )
    }
}

extension StoredItem {
    fileprivate var decision: String {
        switch self {
        case .keychain(let item): item.attributes.decision
        case .file(let file): file.decision
        }
    }

    fileprivate var accessControl: AccessControl? {
        if case .keychain(let item) = self { item.attributes.accessControl } else { nil }
    }
}

extension ClientIdentity {
    /// A client that fits a pattern, and otherwise equals another one.
    fileprivate init(_ pattern: ClientPattern, of other: ClientIdentity) {
        self.init(userID: other.userID, groupID: other.groupID)
        fit(pattern)
    }
}
