internal import CofferCore
internal import CofferFiles

/// A file that a connection has open.
final class FileHandle {
    let file: OpenFile
    let access: FileAccess
    let appends: Bool
    /// The store that the file is of: gone when the vault was closed or erased.
    weak let store: FileStore?
    /// The number of the tenant whose it is.
    let tenant: Int

    init(_ file: OpenFile, _ access: FileAccess, appends: Bool, in store: FileStore, of tenant: Int) {
        self.file = file
        self.access = access
        self.appends = appends
        self.store = store
        self.tenant = tenant
    }

    /// Whether it has the place of the one who writes.
    var isWriter = false
    /// Whether its client has a number for it.
    fileprivate(set) var isRegistered = false
}

/// What a connection has open, by the numbers that its client knows.
package final class FileHandles {
    private var handles: [Int64: FileHandle] = [:]
    private var nextNumber: Int64 = 1

    /// How many are being opened.
    private var reservedCount = 0

    package var isEmpty: Bool { handles.isEmpty }
    /// Those that are being opened included.
    package var count: Int { handles.count + reservedCount }

    /// Keeps a place for one that is being opened: those that are opened at once pass the bound together otherwise.
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

    /// Gives the place back: the handle counts by itself, or there is none.
    func endReservation() { reservedCount -= 1 }

    /// Whether one of them writes a file.
    func writes(_ file: OpenFile) -> Bool { handles.values.contains { $0.isWriter && $0.file === file } }

    /// Takes a handle in.
    ///
    /// - Returns: Its number.
    func add(_ handle: FileHandle) -> Int64 {
        defer { nextNumber += 1 }
        handles[nextNumber] = handle
        handle.isRegistered = true
        return nextNumber
    }

    /// The handle of a number.
    subscript(number: Int64) -> FileHandle {
        get throws(CofferError) {
            if let handle = handles[number] { return handle }
            throw CofferError(.param, "parameter 'handle': this connection has no file open as \(number)")
        }
    }

    func remove(_ number: Int64) { handles[number] = nil }

    /// Takes all of them out: the connection has ended.
    func takeAll() -> [FileHandle] {
        defer { handles = [:] }
        return Array(handles.values)
    }
}
