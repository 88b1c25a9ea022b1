internal import CofferCore
internal import CofferFiles

/// A file that a connection has open.
final class FileHandle {
    let file: OpenFile
    let access: FileAccess
    let appends: Bool
    /// The store of the file: `nil` after the vault was closed or erased.
    weak let store: FileStore?
    /// The number of the tenant that owns it.
    let tenant: Int

    init(_ file: OpenFile, _ access: FileAccess, appends: Bool, in store: FileStore, of tenant: Int) {
        self.file = file
        self.access = access
        self.appends = appends
        self.store = store
        self.tenant = tenant
    }

    /// Whether it holds the writer's claim.
    var isWriter = false
    /// Whether the client knows its number.
    fileprivate(set) var isRegistered = false
}

/// The open files of a connection, by the numbers that its client knows.
package final class FileHandles {
    private var handles: [Int64: FileHandle] = [:]
    private var nextNumber: Int64 = 1

    /// The number of files that are being opened.
    private var reservedCount = 0

    package var isEmpty: Bool { handles.isEmpty }
    /// Includes the files that are being opened.
    package var count: Int { handles.count + reservedCount }

    /// Reserves a place before a file is opened: otherwise several that are opened at once could exceed the limit.
    func reserve() throws(CofferError) {
        guard count < Limits.handles else {
            throw CofferError(
                .notAvailable,
                "this connection has \(Limits.handles) files open, which is the most",
                hint: "close some"
            )
        }
        reservedCount += 1
    }

    /// Releases the reservation: the handle is counted itself now, or opening has failed.
    func endReservation() { reservedCount -= 1 }

    /// Whether this connection writes a file.
    func writes(_ file: OpenFile) -> Bool { handles.values.contains { $0.isWriter && $0.file === file } }

    /// Registers a handle.
    ///
    /// - Returns: Its number.
    func add(_ handle: FileHandle) -> Int64 {
        defer { nextNumber += 1 }
        handles[nextNumber] = handle
        handle.isRegistered = true
        return nextNumber
    }

    subscript(number: Int64) -> FileHandle {
        get throws(CofferError) {
            if let handle = handles[number] { return handle }
            throw CofferError(.param, "parameter 'handle': this connection has no file open as \(number)")
        }
    }

    func remove(_ number: Int64) { handles[number] = nil }

    /// Removes and returns all handles, at the end of the connection.
    func takeAll() -> [FileHandle] {
        defer { handles = [:] }
        return Array(handles.values)
    }
}
