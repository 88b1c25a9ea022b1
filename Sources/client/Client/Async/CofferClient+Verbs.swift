public import CofferCore
public import CofferWire

/// The common verbs; every other method is called by its parameters.
extension CofferClient {
    /// The state of the vault and the number of its items.
    ///
    /// - Throws: `io` or `decode` if the vault can't be used.
    public func status() async throws(CofferError) -> VaultStatus {
        try await call(VaultStatusParameters()).value
    }

    /// Unlocks the vault.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or the text of a recovery key, which also works while passcodes are
    ///     throttled or disabled.
    ///   - credential: Which of the two it is.
    /// - Throws: `authFailed` if it is wrong or may not be tried now; `param` if a recovery key is mistyped.
    @discardableResult
    public func unlock(
        with secret: Secret,
        as credential: Credential = .passcode
    ) async throws(CofferError) -> VaultStatus {
        let params = VaultUnlockParameters(credential: credential == .passcode ? nil : credential)
        return try await call(params, payload: secret).value
    }

    /// Locks the vault.
    ///
    /// - Parameter graceSeconds: The seconds in which the keys stay in memory; 0 locks at once, `nil` uses
    ///   the daemon's setting.
    /// - Throws: `notAvailable` if the vault has no passcode.
    @discardableResult
    public func lock(graceSeconds: Int? = nil) async throws(CofferError) -> VaultStatus {
        try await call(VaultLockParameters(graceSeconds: graceSeconds.map { Int64($0) })).value
    }

    // MARK: Contents

    /// Stores a secret in the store that the decision matrix selects.
    ///
    /// - Parameters:
    ///   - name: The name of the item.
    ///   - content: The secret, at most ``CofferCore/Limits/framePayloadBytes``.
    ///   - wishes: Requirements that enter into the decision.
    /// - Returns: The store, and the rule that selected it.
    /// - Throws: `interactionNotAllowed` if its key is not in memory; `dataTooLarge`; `diskFull`.
    @discardableResult
    public func put(
        _ name: ItemName,
        _ content: Secret,
        _ wishes: PlacementOptions = PlacementOptions()
    ) async throws(CofferError) -> Placement {
        let params = ItemPutParameters(name: name, wishes: wishes)
        return try await call(params, payload: content).value
    }

    /// Stores a content of any size, in pieces, in the store that the decision matrix selects.
    ///
    /// The source is read as fast as the daemon accepts the pieces. If the transfer fails or the task is
    /// cancelled, nothing is stored, and an item that existed under the name is unchanged.
    ///
    /// - Parameters:
    ///   - name: The name of the item.
    ///   - source: The pieces.
    ///   - wishes: Requirements that enter into the decision.
    ///   - progress: Called with the progress on the connection's thread; it must not block.
    /// - Returns: The store, and the rule that selected it.
    /// - Throws: `interactionNotAllowed` if its key is not in memory; `diskFull`; a `CofferError` of the
    ///   source, and `io` for its other errors.
    @discardableResult
    public nonisolated(nonsending) func put<Source: AsyncSequence>(
        _ name: ItemName,
        from source: Source,
        _ wishes: PlacementOptions = PlacementOptions(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> Placement where Source.Element == Secret {
        let params = ItemPutParameters(name: name, wishes: wishes, wantsProgress: progress != nil)
        var stream: ContentStream?
        do throws(CofferError) {
            try await feed(source, name) { () throws(CofferError) in
                // The stream begins with the first piece, so that a slow source does not occupy a transfer.
                if let stream { return stream }
                let begun = try beginStream(params, progress: progress)
                stream = begun
                return begun
            }
        } catch {
            // The cancellation may have come too late; only the daemon's answer says so.
            if let stream, case .failure(let end) = await stream.abandon(), end.code == .outcomeUnknown { throw end }
            throw error
        }
        guard let stream else { return try await put(name, Secret(nil), wishes) }
        return try ItemPutParameters.coding.result(try await stream.finish().get().json)
    }

    private nonisolated(nonsending) func feed<Source: AsyncSequence>(
        _ source: Source,
        _ name: ItemName,
        to stream: () throws(CofferError) -> ContentStream
    ) async throws(CofferError) where Source.Element == Secret {
        do {
            for try await piece in source where try await !stream().write(piece) { return }
        } catch let error as CofferError {
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            // The text of a foreign error is left out: it may contain a secret.
            throw CofferError(.io, "can't store \(name.quoted): its source failed with \(type(of: error))")
        }
        // A source may end without an error when its task is cancelled.
        if Task.isCancelled { throw .cancelled }
    }

    /// Fetches a content, or a range of it.
    ///
    /// - Parameters:
    ///   - name: The name of the item.
    ///   - group: Its access group; `nil` takes the client's first.
    ///   - offset: The first byte.
    ///   - length: The maximum number of bytes. For more than ``CofferCore/Limits/framePayloadBytes``, use
    ///     ``content(of:in:offset:length:)``.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` if its key is not in memory; `dataTooLarge`;
    ///   `decode`.
    public func get(
        _ name: ItemName,
        in group: String? = nil,
        offset: Int64? = nil,
        length: Int64? = nil
    ) async throws(CofferError) -> Secret {
        let params = ItemGetParameters(name: name, offset: offset, length: length, group: group)
        let returned = try await call(params)
        return try returned.payload(of: returned.value.byteCount)
    }

    /// A content of any size, in pieces.
    ///
    /// - Parameters:
    ///   - name: The name of the item.
    ///   - group: Its access group; `nil` takes the client's first.
    ///   - offset: The first byte.
    ///   - length: The maximum number of bytes.
    /// - Returns: The content, which is fetched when it is iterated.
    public func content(
        of name: ItemName,
        in group: String? = nil,
        offset: Int64? = nil,
        length: Int64? = nil
    ) -> ItemContent {
        ItemContent(ItemGetParameters(name: name, offset: offset, length: length, group: group), of: self)
    }

    // MARK: Items

    /// Lists items, in an order that is unrelated to their names.
    ///
    /// - Parameters:
    ///   - prefix: Only names with this prefix.
    ///   - pattern: Only names that match it.
    ///   - store: Only items of that store.
    ///   - expiringBefore: Only items that expire before that time, in milliseconds since 1970.
    ///   - group: Only items of that access group; `nil` takes the client's first.
    /// - Returns: The items, which are fetched page by page while they are iterated.
    public func list(
        prefix: String? = nil,
        pattern: NamePattern? = nil,
        store: StoreName? = nil,
        expiringBefore: Int64? = nil,
        in group: String? = nil
    ) -> Pages<ItemInfo> {
        Pages { (after) async throws(CofferError) in
            let params = ItemListParameters(
                prefix: prefix,
                pattern: pattern,
                store: store,
                after: after,
                expiringBefore: expiringBefore,
                group: group
            )
            let page = try await self.call(params).value
            return (page.items, page.next)
        }
    }
}
