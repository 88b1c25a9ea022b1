public import CofferCore
internal import CofferWire

/// An open file of a connection.
///
/// It is closed when it or its connection is released; only ``close()`` reports whether everything written is
/// on the disk.
public final class OpenedFile {
    /// The name under which it was opened.
    public let name: ItemName
    /// The class of the file when it was opened.
    public var protectionClass: ProtectionClass { opened.protectionClass }
    /// Whether opening created it.
    public var isNew: Bool { opened.isNew }
    /// The size that this handle last saw; other handles may change it.
    public private(set) var byteCount: Int64

    /// The connection that has it open.
    package let client: BlockingClient
    private let opened: FileOpenResult
    private var isOpen = true

    init(_ name: ItemName, _ opened: FileOpenResult, of client: BlockingClient) {
        self.name = name
        self.client = client
        self.opened = opened
        byteCount = opened.byteCount
    }

    deinit { try? close() }

    /// Reads a range of the file.
    ///
    /// - Parameters:
    ///   - offset: The first byte.
    ///   - count: The number of bytes, at most ``Limits/framePayloadBytes``.
    /// - Returns: The bytes: fewer at the end of the file, none behind it.
    /// - Throws: `interactionNotAllowed` if its key was revoked; `decode` if the range is damaged.
    public func read(at offset: Int64, count: Int) throws(CofferError) -> Secret {
        let params = FileReadParameters(handle: try openHandle(), offset: offset, length: Int64(count))
        let returned = try client.call(params)
        return try returned.payload(of: returned.value.byteCount, atMost: count)
    }

    /// Writes a range of the file, which is durable only after a sync or a close.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, at most ``Limits/framePayloadBytes``.
    ///   - offset: The first byte; `nil` appends, as does a file that was opened for appending.
    /// - Returns: The offset at which they were written.
    /// - Throws: `interactionNotAllowed` if its key was revoked; `diskFull`; `dataTooLarge`.
    @discardableResult
    public func write(_ bytes: Secret, at offset: Int64? = nil) throws(CofferError) -> Int64 {
        let params = FileWriteParameters(handle: try openHandle(), offset: offset)
        let written = try client.call(params, payload: bytes).value
        byteCount = written.byteCount
        return written.offset
    }

    /// Shortens the file, or extends it by zeros, which occupy no space.
    ///
    /// - Parameter byteCount: The new size.
    public func truncate(to byteCount: Int64) throws(CofferError) {
        try client.call(FileTruncateParameters(handle: try openHandle(), byteCount: byteCount))
        self.byteCount = byteCount
    }

    /// Reserves space on the disk.
    ///
    /// - Parameters:
    ///   - offset: The first byte.
    ///   - count: The number of bytes.
    /// - Throws: `diskFull` if there is not enough space.
    public func allocate(at offset: Int64, count: Int64) throws(CofferError) {
        let params = FileAllocateParameters(handle: try openHandle(), offset: offset, length: count)
        byteCount = try client.call(params).value.byteCount
    }

    /// Waits until everything written is on the disk; after a crash, either all of it is there or none.
    public func sync() throws(CofferError) { try client.call(FileSyncParameters(handle: try openHandle())) }

    /// Syncs and closes the file; after an error, it may be tried again.
    public func close() throws(CofferError) {
        guard isOpen else { return }
        try client.call(FileCloseParameters(handle: opened.handle))
        isOpen = false
    }

    /// The number of the handle, which is invalid after a close.
    private func openHandle() throws(CofferError) -> Int64 {
        guard isOpen else { throw CofferError(.param, "\(name.quoted) is closed") }
        return opened.handle
    }
}

extension BlockingClient {
    /// Opens a file of the file store.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - group: Its access group; `nil` takes the client's first.
    ///   - access: Whether it is read, written or both.
    ///   - options: Whether it is created, truncated and so on.
    ///   - protectionClass: The class of a new file; `nil` takes that of its directory, or else the default.
    ///   - version: The number of the version that is read; `nil` for the present content.
    /// - Returns: The file, which is closed with the connection at the latest.
    /// - Throws: `itemNotFound`; `duplicateItem` if it must be new and exists; `interactionNotAllowed` if its
    ///   key is not in memory; `notAvailable` if another handle writes it.
    public func openFile(
        _ name: ItemName,
        in group: String? = nil,
        for access: FileAccess = .read,
        _ options: FileOpenOptions = [],
        protectionClass: ProtectionClass? = nil,
        version: Int64? = nil
    ) throws(CofferError) -> OpenedFile {
        let params = FileOpenParameters(name, in: group, access, options, protectionClass, version)
        return OpenedFile(name, try call(params).value, of: self)
    }

    /// Creates a file that is a copy of another one, and opens it for writing.
    ///
    /// - Parameters:
    ///   - name: The name of the copy.
    ///   - original: The file: its copy gets no weaker class.
    package func createCopy(_ name: ItemName, of original: OpenedFile) throws(CofferError) -> OpenedFile {
        let least = original.protectionClass
        let params = FileOpenParameters(name, in: nil, .write, [.create, .exclusive], nil, atLeast: least)
        return OpenedFile(name, try call(params).value, of: self)
    }
}
