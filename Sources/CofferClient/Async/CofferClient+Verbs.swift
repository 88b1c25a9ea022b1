public import CofferCore
public import CofferWire

/// The usual verbs; every other method is a call of its parameters.
extension CofferClient {
    /// The state of the vault and what is in it.
    ///
    /// - Throws: `io` or `decode` where the vault can't be used.
    public func status() async throws(CofferError) -> VaultStatus {
        try await call(VaultStatusParameters()).value
    }

    /// Unlocks.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups, which also opens where no passcode may be tried.
    ///   - credential: Which of the two it is.
    /// - Throws: `authFailed` where it is wrong, or may not be tried now; `param` where a recovery key is mistyped.
    @discardableResult
    public func unlock(
        with secret: Secret,
        as credential: Credential = .passcode
    ) async throws(CofferError) -> VaultStatus {
        let params = VaultUnlockParameters(credential: credential == .passcode ? nil : credential)
        return try await call(params, payload: secret).value
    }

    /// Locks.
    ///
    /// - Parameter graceSeconds: Seconds for which everything still works; 0 locks at once, `nil` takes the daemon's
    ///   setting.
    /// - Throws: `notAvailable` for a vault without a passcode.
    @discardableResult
    public func lock(graceSeconds: Int? = nil) async throws(CofferError) -> VaultStatus {
        try await call(VaultLockParameters(graceSeconds: graceSeconds.map { Int64($0) })).value
    }

    // MARK: Contents

    /// Stores a secret where the decision matrix says.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - content: What is stored; at most ``CofferCore/Limits/framePayloadBytes``.
    ///   - wishes: What is said about it.
    /// - Returns: Where it went, and why.
    /// - Throws: `interactionNotAllowed` where its key is not there; `dataTooLarge`; `diskFull`.
    @discardableResult
    public func put(
        _ name: ItemName,
        _ content: Secret,
        _ wishes: ItemWishes = ItemWishes()
    ) async throws(CofferError) -> Placement {
        let params = ItemPutParameters(name: name, wishes: wishes)
        return try await call(params, payload: content).value
    }

    /// Stores what a descriptor gives, to its end, where the decision matrix says.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - descriptor: The number of a file, a pipe or a stream socket; the daemon reads it, and it stays open here.
    ///   - wishes: What is said about it.
    ///   - progress: Told how far it has come, on the connection's thread, where nothing may wait.
    /// - Returns: Where it went, and why.
    /// - Throws: `interactionNotAllowed` where its key is not there; `diskFull`; `io`.
    @discardableResult
    public func put(
        _ name: ItemName,
        fromDescriptor descriptor: Int32,
        _ wishes: ItemWishes = ItemWishes(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> Placement {
        let params = ItemPutParameters(name: name, wishes: wishes, wantsProgress: progress != nil)
        return try await call(params, passing: descriptor, progress: progress).value
    }

    /// Stores a content that comes in pieces, of whatever size it is in all, where the decision matrix says.
    ///
    /// It is asked for as fast as the daemon takes it. If it fails, or the task is cancelled, nothing is stored, and what was
    /// stored under the name is untouched.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - source: The pieces.
    ///   - wishes: What is said about it.
    ///   - progress: Told how far it has come, on the connection's thread, where nothing may wait.
    /// - Returns: Where it went, and why.
    /// - Throws: `interactionNotAllowed` where its key is not there; `diskFull`; the source's own `CofferError`, and `io` for
    ///   another one.
    @discardableResult
    public nonisolated(nonsending) func put<Source: AsyncSequence>(
        _ name: ItemName,
        from source: Source,
        _ wishes: ItemWishes = ItemWishes(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> Placement where Source.Element == Secret {
        let params = ItemPutParameters(name: name, wishes: wishes, wantsProgress: progress != nil)
        var stream: ContentStream?
        do throws(CofferError) {
            try await feed(source, name) { () throws(CofferError) in
                // Not before there is something to store: a source that waits holds nobody up.
                if let stream { return stream }
                let begun = try beginStream(params, progress: progress)
                stream = begun
                return begun
            }
        } catch {
            // Whether the daemon could be told in time, it knows best.
            if let stream, case .failure(let end) = await stream.abandon(), end.code == .outcomeUnknown { throw end }
            throw error
        }
        guard let stream else { return try await put(name, Secret(nil), wishes) }
        return try Placement(result: try await stream.finish().get().json)
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
            // Its words may be anything, a secret included.
            throw CofferError(.io, "can't store \(name.quoted): its source failed with \(type(of: error))")
        }
        // A source may just end when its task is cancelled.
        if Task.isCancelled { throw .cancelled }
    }

    /// Fetches a content, or a part of it.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - offset: Where to begin, in bytes.
    ///   - length: How many bytes at most; of more than ``CofferCore/Limits/framePayloadBytes``, ``content(of:offset:length:)``
    ///     gives pieces.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` where its key is not there; `dataTooLarge`; `decode`.
    public func get(
        _ name: ItemName,
        offset: Int64? = nil,
        length: Int64? = nil
    ) async throws(CofferError) -> Secret {
        let params = ItemGetParameters(name: name, offset: offset, length: length)
        let returned = try await call(params)
        let (announced, received) = (returned.value.byteCount, Int64(returned.payload.count))
        guard announced == received else { throw .wrongCount(announced: announced, received) }
        return returned.payload
    }

    /// Has the daemon write a content to a descriptor.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - descriptor: The number of a file, a pipe or a stream socket, which stays open here.
    ///   - offset: Where to begin, in bytes.
    ///   - length: How many bytes at most.
    ///   - progress: Told how far it has come, on the connection's thread, where nothing may wait.
    /// - Returns: The content of a keychain item, which is not written to descriptors; `nil` where it was written.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` where its key is not there; `decode`; `io`.
    public func get(
        _ name: ItemName,
        intoDescriptor descriptor: Int32,
        offset: Int64? = nil,
        length: Int64? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> Secret? {
        let params = ItemGetParameters(name: name, offset: offset, length: length, wantsProgress: progress != nil)
        let returned = try await call(params, passing: descriptor, progress: progress)
        return returned.value.delivery == .payload ? returned.payload : nil
    }

    /// A content of whatever size, in pieces.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - offset: Where to begin, in bytes.
    ///   - length: How many bytes at most.
    /// - Returns: The content, which is asked for when somebody goes through it.
    public func content(of name: ItemName, offset: Int64? = nil, length: Int64? = nil) -> ItemContent {
        ItemContent(client: self, params: ItemGetParameters(name: name, offset: offset, length: length))
    }

    // MARK: Items

    /// Describes an item, in every state of the vault.
    ///
    /// - Parameter name: Its name.
    /// - Throws: `itemNotFound`.
    public func show(_ name: ItemName) async throws(CofferError) -> ItemInfo {
        try await call(ItemShowParameters(name: name)).value
    }

    /// Lists items, in no order that says anything of their names.
    ///
    /// - Parameters:
    ///   - prefix: Names that begin with it only.
    ///   - pattern: Names that fit it only.
    ///   - store: Items of that store only.
    ///   - expiringBefore: Items with an expiry date before that time only, in milliseconds since 1970.
    /// - Returns: The items, asked for page by page when somebody goes through them.
    public func list(
        prefix: String? = nil,
        pattern: NamePattern? = nil,
        store: StoreName? = nil,
        expiringBefore: Int64? = nil
    ) -> Pages<ItemInfo> {
        Pages { (after) async throws(CofferError) in
            let params = ItemListParameters(
                prefix: prefix,
                pattern: pattern,
                store: store,
                after: after,
                expiringBefore: expiringBefore
            )
            let page = try await self.call(params).value
            return (page.items, page.next)
        }
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
    ) async throws(CofferError) -> ItemInfo {
        try await call(ItemMoveParameters(name: name, target: target, replaces: replace)).value
    }

    /// Removes an item, in every state of the vault.
    ///
    /// - Parameter name: Its name.
    /// - Throws: `itemNotFound`.
    public func remove(_ name: ItemName) async throws(CofferError) {
        try await call(ItemRemoveParameters(name: name))
    }
}
