public import CofferCore
package import CofferMemory
public import CofferWire

/// The usual verbs; every other method is a ``BlockingClient/call(_:payload:passing:progress:)`` of its parameters.
extension BlockingClient {
    /// The state of the vault and what is in it.
    ///
    /// - Throws: `io` or `decode` where the vault can't be used.
    public func status() throws(CofferError) -> VaultStatus { try call(VaultStatusParameters()).value }

    /// Unlocks.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups, which also opens where no passcode may be tried.
    ///   - credential: Which of the two it is.
    /// - Throws: `authFailed` where it is wrong, or may not be tried now; `param` where a recovery key is mistyped.
    @discardableResult
    package func unlock(
        with secret: borrowing SecretBytes?,
        as credential: Credential = .passcode
    ) throws(CofferError) -> VaultStatus {
        let params = VaultUnlockParameters(credential: credential == .passcode ? nil : credential)
        return try call(params, payload: secret).value
    }

    /// Locks.
    ///
    /// - Parameter graceSeconds: Seconds for which everything still works; 0 locks at once, `nil` takes the daemon's setting.
    /// - Throws: `notAvailable` for a vault without a passcode.
    @discardableResult
    public func lock(graceSeconds: Int? = nil) throws(CofferError) -> VaultStatus {
        try call(VaultLockParameters(graceSeconds: graceSeconds.map { Int64($0) })).value
    }

    /// Asks for the events of the vault, which ``nextEvent()`` gives from here on.
    ///
    /// - Parameter selection: What else is to be told than locking and unlocking.
    /// - Throws: `notAvailable` where the daemon is gone.
    public func watch(_ selection: EventSelection = []) throws(CofferError) {
        try call(VaultWatchParameters(selection))
    }

    /// Stores an item where the decision matrix says.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - wishes: What is said about it.
    ///   - content: Its first bytes.
    ///   - rest: The number of a descriptor that gives the bytes behind them.
    ///   - progress: Told how far the transfer has come.
    /// - Returns: Where it went, and why.
    package func put(
        _ name: ItemName,
        _ wishes: ItemWishes,
        content: borrowing SecretBytes?,
        rest: Int32? = nil,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Placement {
        let params = ItemPutParameters(name: name, wishes: wishes, wantsProgress: progress != nil)
        return try call(params, payload: content, passing: rest, progress: progress).value
    }

    /// Fetches the content of an item.
    ///
    /// - Parameters:
    ///   - params: Which item, and which part of it.
    ///   - descriptor: The number of a descriptor that takes the content of a file.
    ///   - progress: Told how far the transfer has come.
    /// - Returns: How it came, and the content where it came with the answer.
    package func get(
        _ params: ItemGetParameters,
        into descriptor: Int32? = nil,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Returned<ItemGetResult> { try call(params, passing: descriptor, progress: progress) }

    /// Lists items, in no order that says anything of their names.
    ///
    /// - Parameters:
    ///   - prefix: Names that begin with it only.
    ///   - pattern: Names that fit it only.
    ///   - store: Items of that store only.
    ///   - after: The `next` of the page before.
    ///   - limit: The most items; at most ``Limits/pageItems``, which it is by default.
    ///   - expiringBefore: Items with an expiry date before that time only, in milliseconds since 1970.
    /// - Returns: A page.
    public func list(
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

    /// Describes an item, in every state of the vault.
    ///
    /// - Parameter name: Its name.
    /// - Throws: `itemNotFound`.
    public func show(_ name: ItemName) throws(CofferError) -> ItemInfo {
        try call(ItemShowParameters(name: name)).value
    }

    /// Gives an item another name, in every state of the vault; all else about it stays.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - target: The name it is to have.
    ///   - replace: Whether an item that is there is replaced, in whichever store it is.
    /// - Returns: The item as it is now.
    /// - Throws: `itemNotFound`; `duplicateItem` where there is something already; `interactionNotAllowed` where the key of
    ///   what is replaced is not there; `param` for a directory, or where a part of the name is a file.
    @discardableResult
    public func move(
        _ name: ItemName,
        to target: ItemName,
        replace: Bool = false
    ) throws(CofferError) -> ItemInfo {
        try call(ItemMoveParameters(name: name, target: target, replaces: replace)).value
    }

    /// Removes an item, in every state of the vault.
    ///
    /// - Parameter name: Its name.
    /// - Throws: `itemNotFound`.
    public func remove(_ name: ItemName) throws(CofferError) { try call(ItemRemoveParameters(name: name)) }
}
