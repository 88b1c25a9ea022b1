package import CofferClient
package import CofferCore
package import CofferMemory
package import CofferWire

// The common verbs with arguments, for the tests; the programs pass the parameters of the methods.

extension MethodCaller {
    @discardableResult
    package func unlock(
        with secret: borrowing SecretBytes?,
        as credential: Credential = .passcode
    ) throws(CofferError) -> VaultStatus {
        let params = VaultUnlockParameters(credential: credential == .passcode ? nil : credential)
        return try call(params, payload: secret).value
    }

    @discardableResult
    package func lock(graceSeconds: Int? = nil) throws(CofferError) -> VaultStatus {
        try call(VaultLockParameters(graceSeconds: graceSeconds.map { Int64($0) })).value
    }

    package func list(
        prefix: String? = nil,
        pattern: NamePattern? = nil,
        store: StoreName? = nil,
        after: String? = nil,
        limit: Int? = nil,
        expiringBefore: Int64? = nil
    ) throws(CofferError) -> ItemPage {
        let params = ItemListParameters(
            prefix: prefix,
            pattern: pattern,
            store: store,
            after: after,
            limit: limit.map { Int64($0) },
            expiringBefore: expiringBefore
        )
        return try call(params).value
    }

    package func show(_ name: ItemName) throws(CofferError) -> ItemInfo {
        try call(ItemShowParameters(name: name)).value
    }

    @discardableResult
    package func move(
        _ name: ItemName,
        to target: ItemName,
        replace: Bool = false
    ) throws(CofferError) -> ItemInfo {
        try call(ItemMoveParameters(name: name, target: target, replaces: replace)).value
    }

    package func remove(_ name: ItemName) throws(CofferError) { try call(ItemRemoveParameters(name: name)) }
}

extension BlockingClient {
    package func put(
        _ name: ItemName,
        _ wishes: PlacementOptions,
        content: borrowing SecretBytes?,
        rest: Int32? = nil,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Placement {
        let params = ItemPutParameters(name: name, wishes: wishes, wantsProgress: progress != nil)
        return try call(params, payload: Secret(copying: content), passing: rest, progress: reports(progress)).value
    }

    package func get(
        _ params: ItemGetParameters,
        into descriptor: Int32? = nil,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Returned<ItemGetResult> {
        try call(params, passing: descriptor, progress: reports(progress))
    }
}
