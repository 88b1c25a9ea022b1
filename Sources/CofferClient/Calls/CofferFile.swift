public import CofferCore
internal import CofferSystem
internal import CofferWire

/// A file that a client has open.
///
/// It belongs to the connection that it was opened on: when that breaks, every use fails with `notAvailable`, and what was
/// written and not synced is lost.
public actor CofferFile {
    /// The thread of its connection.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe client.unownedExecutor }
    /// The name that it was opened by.
    public nonisolated let name: ItemName
    /// The class that it had when it was opened.
    public nonisolated let protectionClass: ProtectionClass
    /// Whether it was made by being opened.
    public nonisolated let isNew: Bool
    /// The bytes that it has, as far as this handle knows: others may write it, too.
    public private(set) var byteCount: Int64

    private nonisolated let client: CofferClient
    private let handle: Int64
    private let epoch: Int
    private var isOpen = true

    init(_ name: ItemName, _ opened: FileOpenResult, of client: CofferClient, on epoch: Int) {
        self.name = name
        self.client = client
        self.epoch = epoch
        handle = opened.handle
        protectionClass = opened.protectionClass
        isNew = opened.isNew
        byteCount = opened.byteCount
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
        let returned = try await client.call(.fileRead, params, onlyOn: epoch, returning: FileByteCount.self)
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
        let written = try await client.call(
            .fileWrite,
            params,
            payload: bytes,
            onlyOn: epoch,
            returning: FileWriteResult.self
        ).value
        byteCount = written.byteCount
        return written.offset
    }

    /// Cuts the file off, or makes it longer: what is added reads as zeros, and costs nothing.
    ///
    /// - Parameter byteCount: The bytes that it is to have.
    public func truncate(to byteCount: Int64) async throws(CofferError) {
        let params = FileTruncateParameters(handle: try openHandle(), byteCount: byteCount)
        _ = try await client.call(.fileTruncate, params, onlyOn: epoch, returning: Empty.self)
        self.byteCount = byteCount
    }

    /// Reserves room on disk.
    ///
    /// - Parameters:
    ///   - offset: Where it begins, in bytes.
    ///   - count: How many bytes it is for.
    /// - Throws: `diskFull` where there is no such room.
    public func allocate(at offset: Int64, count: Int64) async throws(CofferError) {
        let params = FileAllocateParameters(handle: try openHandle(), offset: offset, length: count)
        byteCount = try await client.call(.fileAllocate, params, onlyOn: epoch, returning: FileByteCount.self).value
            .byteCount
    }

    /// Waits until all that was written is on the disk: all of it is, or nothing.
    public func sync() async throws(CofferError) {
        let params = FileSyncParameters(handle: try openHandle())
        _ = try await client.call(.fileSync, params, onlyOn: epoch, returning: Empty.self)
    }

    /// Syncs what was written, and gives the handle back; where that fails, it can be tried again.
    public func close() async throws(CofferError) {
        guard isOpen else { return }
        let params = FileCloseParameters(handle: handle)
        _ = try await client.call(.fileClose, params, onlyOn: epoch, returning: Empty.self)
        isOpen = false
    }

    deinit {
        guard isOpen else { return }
        client.loop.post { [client, handle, epoch] in client.assumeIsolated { $0.letGo(of: handle, on: epoch) } }
    }

    /// Gives the handle back, whether or not the task is cancelled.
    func letGo() {
        if isOpen { client.assumeIsolated { $0.letGo(of: handle, on: epoch) } }
        isOpen = false
    }

    /// The number of the handle, which means nothing once it was given back.
    private func openHandle() throws(CofferError) -> Int64 {
        guard isOpen else { throw CofferError(.param, "\(name.quoted) is closed") }
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
        let returned = try await call(.fileOpen, params, returning: FileOpenResult.self)
        return CofferFile(name, returned.value, of: self, on: returned.epoch)
    }

    /// Gives a handle back that nobody waits for.
    func letGo(of handle: Int64, on epoch: Int) {
        let number = takeNumber()
        let params = FileCloseParameters(handle: handle)
        let request = Request(id: .integer(number), method: Method.fileClose.rawValue, params: params.json)
        submit(Call(number, .fileClose, request, epoch: epoch))
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
            await file.letGo()
            throw error
        }
    }
}
