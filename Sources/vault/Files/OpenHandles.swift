package import CofferCore

/// A file that a connection has open.
package final class OpenHandle {
    package let file: OpenFile
    package let access: FileAccess
    package let appends: Bool
    /// Whether it writes beside other handles.
    package let isShared: Bool
    /// The store of the file: `nil` after the vault was closed or erased.
    package weak let store: FileStore?

    package init(
        _ file: OpenFile,
        _ access: FileAccess,
        appends: Bool,
        isShared: Bool = false,
        in store: FileStore
    ) {
        self.file = file
        self.access = access
        self.appends = appends
        self.isShared = isShared
        self.store = store
    }

    /// Whether it holds the writer's claim.
    package var isWriter = false
    /// Whether the client knows its number.
    package fileprivate(set) var isRegistered = false
}

/// The open files of a connection, by the numbers that its client knows.
package final class OpenHandles {
    private var handles: [Int64: OpenHandle] = [:]
    private var nextNumber: Int64 = 1

    /// The number of files that are being opened.
    private var reservedCount = 0
    /// The most handles at a time.
    private let limit: Int

    package init(limit: Int = Limits.handles) { self.limit = limit }

    package var isEmpty: Bool { handles.isEmpty }
    /// The open files, in the order in which they were opened.
    package var all: [OpenHandle] { handles.sorted { $0.key < $1.key }.map(\.value) }
    /// Includes the files that are being opened.
    package var count: Int { handles.count + reservedCount }

    /// Reserves a place before a file is opened: otherwise several that are opened at once could exceed the limit.
    package func reserve() throws(CofferError) {
        guard count < limit else {
            throw CofferError(
                .notAvailable,
                "this connection has \(limit) files open, which is the most",
                hint: "close some",
                reason: .tooManyOpen
            )
        }
        reservedCount += 1
    }

    /// Releases the reservation: the handle is counted itself now, or opening has failed.
    package func endReservation() { reservedCount -= 1 }

    /// Whether this connection writes a file.
    package func writes(_ file: OpenFile) -> Bool { handles.values.contains { $0.isWriter && $0.file === file } }

    /// Registers a handle.
    ///
    /// - Returns: Its number.
    package func add(_ handle: OpenHandle) -> Int64 {
        defer { nextNumber += 1 }
        handles[nextNumber] = handle
        handle.isRegistered = true
        return nextNumber
    }

    package subscript(number: Int64) -> OpenHandle {
        get throws(CofferError) {
            if let handle = handles[number] { return handle }
            throw CofferError(
                .param,
                "parameter 'handle': this connection has no file open as \(number)",
                reason: .badHandle
            )
        }
    }

    /// A handle that reads.
    package func reader(_ number: Int64) throws(CofferError) -> OpenHandle { try handle(number, \.reads, "reading") }

    /// A handle that writes.
    package func writer(_ number: Int64) throws(CofferError) -> OpenHandle { try handle(number, \.writes, "writing") }

    private func handle(
        _ number: Int64,
        _ may: KeyPath<FileAccess, Bool>,
        _ use: String
    ) throws(CofferError) -> OpenHandle {
        let handle = try self[number]
        if handle.access[keyPath: may] { return handle }
        throw CofferError(
            .param,
            "\(handle.file.subject) was not opened for \(use)",
            hint: "open it with another 'access'",
            reason: .badHandle
        )
    }

    package func remove(_ number: Int64) { handles[number] = nil }

    /// Removes and returns all handles, at the end of the connection.
    package func takeAll() -> [OpenHandle] {
        defer { handles = [:] }
        return Array(handles.values)
    }
}
