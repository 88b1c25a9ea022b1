public import CofferCore
internal import CofferWire
internal import Synchronization

/// A file that a client has open.
///
/// It belongs to the connection that it was opened on: when that breaks, every use fails with `notAvailable`, and what was
/// written and not synced is lost.
public final class CofferFile: Sendable {
    /// The name that it was opened by.
    public let name: ItemName
    /// The class that it had when it was opened.
    public let protectionClass: ProtectionClass
    /// Whether it was made by being opened.
    public let isNew: Bool
    /// The bytes that it has, as far as this handle knows: others may write it, too.
    public var byteCount: Int64 { state.withLock { $0.byteCount } }

    private struct State {
        var byteCount: Int64
        var isOpen = true
    }

    private let client: CofferClient
    private let handle: Int64
    private let epoch: Int
    private let state: Mutex<State>

    init(_ name: ItemName, _ opened: FileOpenResult, of client: CofferClient, on epoch: Int) {
        self.name = name
        self.client = client
        self.epoch = epoch
        handle = opened.handle
        protectionClass = opened.protectionClass
        isNew = opened.isNew
        state = Mutex(State(byteCount: opened.byteCount))
    }

    /// Reads.
    ///
    /// - Parameters:
    ///   - offset: Where to begin, in bytes.
    ///   - count: How many bytes; at most ``CofferCore/Limits/framePayloadBytes``.
    /// - Returns: The bytes, fewer where the file ends, and none at its end.
    /// - Throws: `interactionNotAllowed` where its key has gone; `decode` where it is damaged there.
    public func read(at offset: Int64, count: Int) async throws(CofferError) -> Secret {
        let params = FileReadParameters(handle: try openHandle(), offset: offset, length: Int64(count))
        let returned = try await client.call(params, onlyOn: epoch)
        let announced = returned.value.byteCount
        guard announced == Int64(returned.payload.count), announced <= Int64(count) else {
            throw CofferError(
                .protocolViolation,
                "the daemon's answer has \(returned.payload.count) bytes, announces \(announced), and \(count) were wanted"
            )
        }
        return returned.payload
    }

    /// Writes.
    ///
    /// It is kept once the file was synced or closed.
    ///
    /// - Parameters:
    ///   - bytes: What is written; at most ``CofferCore/Limits/framePayloadBytes``.
    ///   - offset: Where to begin, in bytes; at the end if nothing is said, or where the file was opened for appending.
    /// - Returns: Where it was written.
    /// - Throws: `interactionNotAllowed` where its key has gone; `diskFull`; `dataTooLarge`.
    @discardableResult
    public func write(_ bytes: Secret, at offset: Int64? = nil) async throws(CofferError) -> Int64 {
        let params = FileWriteParameters(handle: try openHandle(), offset: offset)
        let written = try await client.call(params, payload: bytes, onlyOn: epoch).value
        state.withLock { $0.byteCount = written.byteCount }
        return written.offset
    }

    /// Cuts the file off, or makes it longer: what is added reads as zeros, and costs nothing.
    ///
    /// - Parameter byteCount: The bytes that it is to have.
    public func truncate(to byteCount: Int64) async throws(CofferError) {
        let params = FileTruncateParameters(handle: try openHandle(), byteCount: byteCount)
        try await client.call(params, onlyOn: epoch)
        state.withLock { $0.byteCount = byteCount }
    }

    /// Reserves room on disk.
    ///
    /// - Parameters:
    ///   - offset: Where it begins, in bytes.
    ///   - count: How many bytes it is for.
    /// - Throws: `diskFull` where there is no such room.
    public func allocate(at offset: Int64, count: Int64) async throws(CofferError) {
        let params = FileAllocateParameters(handle: try openHandle(), offset: offset, length: count)
        let byteCount = try await client.call(params, onlyOn: epoch).value.byteCount
        state.withLock { $0.byteCount = byteCount }
    }

    /// Waits until all that was written is on the disk: all of it is, or nothing.
    public func sync() async throws(CofferError) {
        try await client.call(FileSyncParameters(handle: try openHandle()), onlyOn: epoch)
    }

    /// Syncs what was written, and gives the handle back; where that fails, it can be tried again.
    public func close() async throws(CofferError) {
        guard state.withLock({ $0.isOpen }) else { return }
        try await client.call(FileCloseParameters(handle: handle), onlyOn: epoch)
        state.withLock { $0.isOpen = false }
    }

    deinit { release() }

    /// Gives the handle back, whether or not the task is cancelled, and does not wait for that.
    func release() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen { client.release(handle, on: epoch) }
    }

    /// The number of the handle, which means nothing once it was given back.
    private func openHandle() throws(CofferError) -> Int64 {
        guard state.withLock({ $0.isOpen }) else { throw CofferError(.param, "\(name.quoted) is closed") }
        return handle
    }
}

extension CofferClient {
    /// Opens a file of the file store.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - access: What for.
    ///   - options: How.
    ///   - protectionClass: The class of a file that is made; that of its directory, or else the standard, if nothing is said.
    /// - Returns: The file: close it, or it stays open as long as its connection. ``withFile(_:for:_:protectionClass:_:)`` does.
    /// - Throws: `itemNotFound`; `duplicateItem` where it is to be made and exists; `interactionNotAllowed` where its key is
    ///   not there now; `notAvailable` where somebody else writes it.
    public func openFile(
        _ name: ItemName,
        for access: FileAccess = .read,
        _ options: FileOpenOptions = [],
        protectionClass: ProtectionClass? = nil
    ) async throws(CofferError) -> CofferFile {
        let params = FileOpenParameters(name, access, options, protectionClass)
        let returned = try await call(params)
        return CofferFile(name, returned.value, of: self, on: returned.epoch)
    }

    /// Gives a handle back without waiting for that.
    fileprivate func release(_ handle: Int64, on epoch: Int) {
        guard let call = try? Call(mailbox.takeNumber(), FileCloseParameters(handle: handle), epoch: epoch) else {
            return
        }
        mailbox.post { $0.submit(call, nil) }
    }

    /// Opens a file, and closes it when the body has ended, however it ends.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - access: What for.
    ///   - options: How.
    ///   - protectionClass: The class of a file that is made; that of its directory, or else the standard, if nothing is said.
    ///   - body: Uses the file.
    /// - Returns: What `body` returns, once all that it wrote is kept.
    /// - Throws: What `body` throws; else what opening or closing throws.
    public nonisolated(nonsending) func withFile<Value>(
        _ name: ItemName,
        for access: FileAccess = .read,
        _ options: FileOpenOptions = [],
        protectionClass: ProtectionClass? = nil,
        _ body: nonisolated(nonsending) (CofferFile) async throws -> Value
    ) async throws -> Value {
        let file = try await openFile(name, for: access, options, protectionClass: protectionClass)
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
