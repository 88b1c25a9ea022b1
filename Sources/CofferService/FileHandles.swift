internal import CofferCore
internal import CofferFiles

/// A file that a connection has open.
final class FileHandle {
    let file: OpenFile
    let access: FileAccess
    let appends: Bool
    /// The store that the file is of: gone when the vault was closed or erased.
    weak var store: FileStore?
    /// The number of the tenant whose it is.
    let tenant: Int

    init(_ file: OpenFile, _ access: FileAccess, appends: Bool, in store: FileStore, of tenant: Int) {
        self.file = file
        self.access = access
        self.appends = appends
        self.store = store
        self.tenant = tenant
    }
}

/// What a connection has open, by the numbers that its client knows.
final class FileHandles {
    private var handles: [Int64: FileHandle] = [:]
    private var nextNumber: Int64 = 1

    var isEmpty: Bool { handles.isEmpty }
    var count: Int { handles.count }

    /// Refuses one more than there may be.
    func checkRoom() throws(CofferError) {
        guard handles.count < Limits.handles else {
            throw CofferError(
                .notAvailable,
                "this connection has \(Limits.handles) files open, which is the most",
                hint: "close some"
            )
        }
    }

    /// Takes a handle in.
    ///
    /// - Returns: Its number.
    func add(_ handle: FileHandle) -> Int64 {
        defer { nextNumber += 1 }
        handles[nextNumber] = handle
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
