public import CofferCore
package import CofferMemory
public import CofferWire

extension BlockingClient {
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
        return try call(
            .itemPut,
            params,
            payload: content,
            passing: rest,
            returning: Placement.self,
            progress: progress
        ).value
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
    ) throws(CofferError) -> Returned<ItemGetResult> {
        try call(.itemGet, params, passing: descriptor, returning: ItemGetResult.self, progress: progress)
    }

    /// Lists items, in the order of their names' bytes.
    ///
    /// - Parameters:
    ///   - prefix: Names that begin with it only.
    ///   - pattern: Names that fit it only.
    ///   - store: Items of that store only.
    ///   - after: Names behind it only: the `next` of the page before.
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
        return try call(.itemList, params, returning: ItemPage.self).value
    }

    /// Describes an item, in every state of the vault.
    ///
    /// - Parameter name: Its name.
    /// - Throws: `itemNotFound`.
    public func show(_ name: ItemName) throws(CofferError) -> ItemInfo {
        try call(.itemShow, ItemShowParameters(name: name), returning: ItemInfo.self).value
    }

    /// Changes the protection of an item; its content is not touched.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - protection: What it is to have. A class is converted for a keychain item, an accessibility for a file.
    /// - Returns: The item as it is now, and what there is to know about the change.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` where the key of its old protection, or of the new one, is not there;
    ///   `authFailed` for `WhenPasscodeSetThisDeviceOnly` in a vault without a passcode.
    public func protect(_ name: ItemName, as protection: Protection) throws(CofferError) -> ProtectionChange {
        let params = ItemProtectParameters(name: name, protection: protection)
        return try call(.itemProtect, params, returning: ProtectionChange.self).value
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
        let params = ItemMoveParameters(name: name, target: target, replaces: replace)
        return try call(.itemMove, params, returning: ItemInfo.self).value
    }

    /// Removes an item, in every state of the vault.
    ///
    /// - Parameter name: Its name.
    /// - Throws: `itemNotFound`.
    public func remove(_ name: ItemName) throws(CofferError) {
        _ = try call(.itemRemove, ItemRemoveParameters(name: name), returning: Empty.self)
    }

    /// Says where an item is or would go, why, and what may be done with it, without storing anything.
    ///
    /// - Parameters:
    ///   - params: An item that is stored, or facts about one that is not.
    ///   - sample: The first bytes of the content, for the rules that look at it.
    package func explain(
        _ params: ItemExplainParameters,
        sample: borrowing SecretBytes? = nil
    ) throws(CofferError) -> Explanation {
        try call(.itemExplain, params, payload: sample, returning: Explanation.self).value
    }
}
