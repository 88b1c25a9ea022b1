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
        let returned = try client.call(params)
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
        let params = FileWriteParameters(handle: try openHandle(), offset: offset)
        let written = try client.call(params, payload: bytes).value
        byteCount = written.byteCount
        return written.offset
    }

    /// Cuts the file off, or makes it longer: what is added reads as zeros, and costs nothing.
    ///
    /// - Parameter byteCount: The bytes that it is to have.
    public func truncate(to byteCount: Int64) throws(CofferError) {
        try client.call(FileTruncateParameters(handle: try openHandle(), byteCount: byteCount))
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
        byteCount = try client.call(params).value.byteCount
    }

    /// Waits until all that was written is on the disk: all of it is, or nothing.
    public func sync() throws(CofferError) { try client.call(FileSyncParameters(handle: try openHandle())) }

    /// Syncs what was written, and gives the handle back; where that fails, it can be tried again.
    public func close() throws(CofferError) {
        guard isOpen else { return }
        try client.call(FileCloseParameters(handle: handle))
        isOpen = false
    }

    /// The number of the handle, which means nothing once it was given back.
    private func openHandle() throws(CofferError) -> Int64 {
        guard isOpen else { throw CofferError(.param, "\(name.quoted) is closed") }
        return handle
    }
}

extension BlockingClient {
    /// Opens a file of the file store.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - access: What for.
    ///   - options: How.
    ///   - protectionClass: The class of a file that is made; that of its directory, or else the standard, if nothing is said.
    /// - Returns: The file, which is closed with the connection at the latest.
    /// - Throws: `itemNotFound`; `duplicateItem` where it is to be made and exists; `interactionNotAllowed` where its key is
    ///   not there now; `notAvailable` where somebody else writes it.
    public func openFile(
        _ name: ItemName,
        for access: FileAccess = .read,
        _ options: FileOpenOptions = [],
        protectionClass: ProtectionClass? = nil
    ) throws(CofferError) -> OpenedFile {
        let params = FileOpenParameters(name, access, options, protectionClass)
        return OpenedFile(name, try call(params).value, of: self)
    }
}
