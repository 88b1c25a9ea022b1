public import CofferCore
package import CofferMemory
internal import CofferWire

/// A file that a connection has open.
///
/// It is closed when it goes, or its connection; only ``close()`` tells whether all that was written is kept.
public final class OpenedFile {
    /// The name that it was opened by.
    public let name: ItemName
    /// The class that it had when it was opened.
    public let protectionClass: ProtectionClass
    /// Whether it was made by being opened.
    public let isNew: Bool
    /// The bytes that it has, as far as this handle knows: others may write it, too.
    public private(set) var byteCount: Int64

    private let client: BlockingClient
    private let handle: Int64
    private var isOpen = true

    init(_ name: ItemName, _ opened: FileOpenResult, of client: BlockingClient) {
        self.name = name
        self.client = client
        handle = opened.handle
        protectionClass = opened.protectionClass
        isNew = opened.isNew
        byteCount = opened.byteCount
    }

    deinit { try? close() }

    /// Reads.
    ///
    /// - Parameters:
    ///   - offset: Where to begin, in bytes.
    ///   - count: How many bytes; at most ``Limits/framePayloadBytes``.
    /// - Returns: The bytes, fewer where the file ends; `nil` at its end.
    /// - Throws: `interactionNotAllowed` where its key has gone; `decode` where it is damaged there.
    package func read(at offset: Int64, count: Int) throws(CofferError) -> SecretBytes? {
        let params = FileReadParameters(handle: try openHandle(), offset: offset, length: Int64(count))
        let returned = try client.call(.fileRead, params, returning: FileByteCount.self)
        let announced = returned.value.byteCount
        guard announced == Int64(returned.payload.byteCount), announced <= Int64(count) else {
            throw CofferError(
                .protocolViolation,
                "the daemon's answer has \(returned.payload.byteCount) bytes, announces \(announced), and \(count) were wanted"
            )
        }
        return returned.takePayload()
    }

    /// Writes.
    ///
    /// It is kept once the file was synced or closed.
    ///
    /// - Parameters:
    ///   - bytes: What is written; at most ``Limits/framePayloadBytes``.
    ///   - offset: Where to begin, in bytes; at the end if nothing is said, or where the file was opened for appending.
    /// - Returns: Where it was written.
    /// - Throws: `interactionNotAllowed` where its key has gone; `diskFull`; `dataTooLarge`.
    @discardableResult package func write(
        _ bytes: borrowing SecretBytes?,
        at offset: Int64? = nil
    ) throws(CofferError) -> Int64 {
        guard bytes.byteCount <= Limits.framePayloadBytes else {
            throw CofferError(
                .dataTooLarge,
                "\(bytes.byteCount) bytes are more than the \(Limits.framePayloadBytes) that can be written at once",
                hint: "write them in pieces"
            )
        }
        let params = FileWriteParameters(handle: try openHandle(), offset: offset)
        let written = try client.call(.fileWrite, params, payload: bytes, returning: FileWriteResult.self).value
        byteCount = written.byteCount
        return written.offset
    }

    /// Cuts the file off, or makes it longer: what is added reads as zeros, and costs nothing.
    ///
    /// - Parameter byteCount: The bytes that it is to have.
    public func truncate(to byteCount: Int64) throws(CofferError) {
        let params = FileTruncateParameters(handle: try openHandle(), byteCount: byteCount)
        _ = try client.call(.fileTruncate, params, returning: Empty.self)
        self.byteCount = byteCount
    }

    /// Reserves room on disk.
    ///
    /// - Parameters:
    ///   - offset: Where it begins, in bytes.
    ///   - count: How many bytes it is for.
    /// - Throws: `diskFull` where there is no such room.
    public func allocate(at offset: Int64, count: Int64) throws(CofferError) {
        let params = FileAllocateParameters(handle: try openHandle(), offset: offset, length: count)
        byteCount = try client.call(.fileAllocate, params, returning: FileByteCount.self).value.byteCount
    }

    /// Waits until all that was written is on the disk: all of it is, or nothing.
    public func sync() throws(CofferError) {
        _ = try client.call(.fileSync, FileSyncParameters(handle: try openHandle()), returning: Empty.self)
    }

    /// Syncs what was written, and gives the handle back; where that fails, it can be tried again.
    public func close() throws(CofferError) {
        guard isOpen else { return }
        _ = try client.call(.fileClose, FileCloseParameters(handle: handle), returning: Empty.self)
        isOpen = false
    }

    /// The number of the handle, which means nothing once it was given back.
    private func openHandle() throws(CofferError) -> Int64 {
        guard isOpen else { throw CofferError(.param, "\(name.quoted) is closed") }
        return handle
    }
}
