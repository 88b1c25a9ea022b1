public import CofferCore
internal import CofferSystem
internal import CofferWire
internal import Synchronization

/// An open file of a client.
///
/// It is bound to the connection that opened it. When that breaks, every method fails with `notAvailable`,
/// and writes that were not synced are lost.
public final class CofferFile: Sendable {
    /// The name under which it was opened.
    public let name: ItemName
    /// The class of the file when it was opened.
    public var protectionClass: ProtectionClass { opened.protectionClass }
    /// Whether opening created it.
    public var isNew: Bool { opened.isNew }
    /// The size that this handle last saw; other handles may change it.
    public var byteCount: Int64 { state.withLock { $0.byteCount } }

    private struct State {
        var byteCount: Int64
        var isOpen = true
    }

    private let client: CofferClient
    private let opened: FileOpenResult
    private let epoch: Int
    private let state: Mutex<State>

    init(_ name: ItemName, _ opened: FileOpenResult, of client: CofferClient, on epoch: Int) {
        self.name = name
        self.client = client
        self.opened = opened
        self.epoch = epoch
        state = Mutex(State(byteCount: opened.byteCount))
    }

    /// Reads a range of the file.
    ///
    /// - Parameters:
    ///   - offset: The first byte.
    ///   - count: The number of bytes, at most ``CofferCore/Limits/framePayloadBytes``.
    /// - Returns: The bytes: fewer at the end of the file, none behind it.
    /// - Throws: `interactionNotAllowed` if its key was revoked; `decode` if the range is damaged.
    public func read(at offset: Int64, count: Int) async throws(CofferError) -> Secret {
        let returned = try await call { FileReadParameters(handle: $0, offset: offset, length: Int64(count)) }
        return try returned.payload(of: returned.value.byteCount, atMost: count)
    }

    /// Writes a range of the file, which is durable only after a sync or a close.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, at most ``CofferCore/Limits/framePayloadBytes``.
    ///   - offset: The first byte; `nil` appends, as does a file that was opened for appending.
    /// - Returns: The offset at which they were written.
    /// - Throws: `interactionNotAllowed` if its key was revoked; `diskFull`; `dataTooLarge`.
    @discardableResult
    public func write(_ bytes: Secret, at offset: Int64? = nil) async throws(CofferError) -> Int64 {
        let written = try await call(payload: bytes) { FileWriteParameters(handle: $0, offset: offset) }.value
        state.withLock { $0.byteCount = written.byteCount }
        return written.offset
    }

    /// Shortens the file, or extends it by zeros, which occupy no space.
    ///
    /// - Parameter byteCount: The new size.
    public func truncate(to byteCount: Int64) async throws(CofferError) {
        try await call { FileTruncateParameters(handle: $0, byteCount: byteCount) }
        state.withLock { $0.byteCount = byteCount }
    }

    /// Reserves space on the disk.
    ///
    /// - Parameters:
    ///   - offset: The first byte.
    ///   - count: The number of bytes.
    /// - Throws: `diskFull` if there is not enough space.
    public func allocate(at offset: Int64, count: Int64) async throws(CofferError) {
        let byteCount = try await call { FileAllocateParameters(handle: $0, offset: offset, length: count) }.value
            .byteCount
        state.withLock { $0.byteCount = byteCount }
    }

    /// Waits until everything written is on the disk; after a crash, either all of it is there or none.
    public func sync() async throws(CofferError) { try await call { FileSyncParameters(handle: $0) } }

    /// Syncs and closes the file; after an error, it may be tried again.
    public func close() async throws(CofferError) {
        guard state.withLock({ $0.isOpen }) else { return }
        try await client.call(FileCloseParameters(handle: opened.handle), onlyOn: epoch)
        state.withLock { $0.isOpen = false }
    }

    deinit { release() }

    /// Closes the handle without waiting, even if the task is cancelled.
    func release() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        let params = FileCloseParameters(handle: opened.handle)
        guard wasOpen, let call = try? Call(client.takeNumber(), params, epoch: epoch) else { return }
        client.mailbox.post { $0.submit(call, nil) }
    }

    /// Sends a request about the handle, which is invalid after a close.
    @discardableResult
    private func call<Parameters: MethodParameters>(
        payload: Secret? = nil,
        _ params: (_ handle: Int64) -> Parameters
    ) async throws(CofferError) -> Returned<Parameters.Result> {
        guard state.withLock({ $0.isOpen }) else { throw CofferError(.param, "\(name.quoted) is closed") }
        return try await client.call(params(opened.handle), payload: payload, onlyOn: epoch)
    }
}

extension CofferClient {
    /// Opens a file of the file store.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - group: Its access group; `nil` takes the client's first.
    ///   - access: Whether it is read, written or both.
    ///   - options: Whether it is created, truncated and so on.
    ///   - protectionClass: The class of a new file; `nil` takes that of its directory, or else the default.
    ///   - version: The number of the version that is read; `nil` for the present content.
    /// - Returns: The file. Close it, or it stays open as long as its connection;
    ///   ``withFile(_:in:for:_:protectionClass:_:)`` closes it.
    /// - Throws: `itemNotFound`; `duplicateItem` if it must be new and exists; `interactionNotAllowed` if its
    ///   key is not in memory; `notAvailable` if another handle writes it.
    public func openFile(
        _ name: ItemName,
        in group: String? = nil,
        for access: FileAccess = .read,
        _ options: FileOpenOptions = [],
        protectionClass: ProtectionClass? = nil,
        version: Int64? = nil
    ) async throws(CofferError) -> CofferFile {
        let params = FileOpenParameters(name, in: group, access, options, protectionClass, version)
        let returned = try await call(params)
        return CofferFile(name, returned.value, of: self, on: returned.epoch)
    }

    /// Opens a file, and closes it when the body returns or throws.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - group: Its access group; `nil` takes the client's first.
    ///   - access: Whether it is read, written or both.
    ///   - options: Whether it is created, truncated and so on.
    ///   - protectionClass: The class of a new file; `nil` takes that of its directory, or else the default.
    ///   - body: Uses the file.
    /// - Returns: The result of `body`, after everything that it wrote is on the disk.
    /// - Throws: The error of `body`, or else that of opening or closing.
    @discardableResult
    public nonisolated(nonsending) func withFile<Value>(
        _ name: ItemName,
        in group: String? = nil,
        for access: FileAccess = .read,
        _ options: FileOpenOptions = [],
        protectionClass: ProtectionClass? = nil,
        _ body: nonisolated(nonsending) (CofferFile) async throws -> Value
    ) async throws -> Value {
        let file = try await openFile(name, in: group, for: access, options, protectionClass: protectionClass)
        do {
            let value = try await body(file)
            try await file.close()
            return value
        } catch {
            file.release()
            throw error
        }
    }
}
