internal import CofferClient
internal import CofferCore
public import Foundation
internal import Synchronization

/// An open file of Coffer, with the methods of Foundation's `FileHandle`.
///
/// It has its own connection, and closes when it is released. If the class of the file requires it, a lock of
/// the vault revokes the handle: its methods then throw `fileReadNoPermission` or `fileWriteNoPermission`.
/// Ported code declares `typealias FileHandle = CofferFileHandle` once.
public final class CofferFileHandle: Sendable {
    private let path: String
    private let state: Mutex<OpenState>

    /// Sendable: the mutex admits one thread at a time.
    private struct OpenState: @unchecked Sendable {
        let file: OpenedFile
        var offset: Int64 = 0
    }

    /// Opens a file for reading.
    ///
    /// - Parameter url: The file.
    /// - Throws: `CocoaError`.
    public convenience init(forReadingFrom url: CofferURL) throws { try self.init(url, .read) }

    /// Opens a file for writing from its start, without truncating it.
    ///
    /// - Parameter url: The file, which must exist.
    /// - Throws: `CocoaError`.
    public convenience init(forWritingTo url: CofferURL) throws { try self.init(url, .write) }

    /// Opens a file for reading and writing.
    ///
    /// - Parameter url: The file, which must exist.
    /// - Throws: `CocoaError`.
    public convenience init(forUpdating url: CofferURL) throws { try self.init(url, .readWrite) }

    private init(_ url: CofferURL, _ access: FileAccess) throws {
        path = url.path
        do throws(CofferError) {
            // The handle keeps the connection, and closes it at its end.
            let opened = OpenState(file: try CofferDaemon.shared.takeClient().openFile(try url.itemName, for: access))
            state = Mutex(opened)
        } catch {
            throw CocoaError(error, access == .read ? .reading : .writing, at: path)
        }
    }

    private func perform<Result: Sendable>(
        _ use: FileUse,
        _ body: (inout OpenState) throws(CofferError) -> Result
    ) throws -> Result {
        do throws(CofferError) {
            return try state.withLock { (state) throws(CofferError) in try body(&state) }
        } catch {
            throw CocoaError(error, use, at: path)
        }
    }

    /// Reads the rest of the file.
    ///
    /// - Returns: The bytes; `nil` at the end.
    /// - Throws: `CocoaError`.
    public func readToEnd() throws -> Data? { try read(upToCount: .max) }

    /// Reads at the current offset.
    ///
    /// - Parameter count: The maximum number of bytes.
    /// - Returns: The bytes; `nil` at the end.
    /// - Throws: `CocoaError`.
    public func read(upToCount count: Int) throws -> Data? {
        try perform(.reading) { (state) throws(CofferError) in
            let data = try state.file.readData(at: state.offset, count)
            state.offset += Int64(data.count)
            return data.isEmpty ? nil : data
        }
    }

    /// Writes at the current offset; the bytes are durable after ``synchronize()`` or ``close()``.
    ///
    /// - Parameter data: The bytes.
    /// - Throws: `CocoaError`.
    public func write(contentsOf data: Data) throws {
        try perform(.writing) { (state) throws(CofferError) in
            try state.file.writeData(data, at: state.offset)
            state.offset += Int64(data.count)
        }
    }

    /// The current offset.
    public func offset() throws -> UInt64 { state.withLock { UInt64($0.offset) } }

    /// Moves to an offset.
    ///
    /// - Parameter offset: The offset in bytes.
    /// - Throws: `CocoaError` if it exceeds the limit of a file's size.
    public func seek(toOffset offset: UInt64) throws {
        try perform(.reading) { (state) throws(CofferError) in
            guard offset <= UInt64(Limits.fileBytes) else {
                throw CofferError(.dataTooLarge, "no file has \(offset) bytes: the limit is \(Limits.fileBytes)")
            }
            state.offset = Int64(offset)
        }
    }

    /// Moves to the end.
    ///
    /// - Returns: The offset in bytes.
    @discardableResult public func seekToEnd() throws -> UInt64 {
        state.withLock { state in
            state.offset = state.file.byteCount
            return UInt64(state.offset)
        }
    }

    /// Shortens the file, or extends it by zeros, and moves to its end.
    ///
    /// - Parameter offset: The new size in bytes.
    /// - Throws: `CocoaError`.
    public func truncate(atOffset offset: UInt64) throws {
        try seek(toOffset: offset)
        try perform(.writing) { (state) throws(CofferError) in try state.file.truncate(to: Int64(offset)) }
    }

    /// Waits until everything written is on the disk.
    ///
    /// - Throws: `CocoaError`.
    public func synchronize() throws { try perform(.writing) { (state) throws(CofferError) in try state.file.sync() } }

    /// Synchronizes and closes the file.
    ///
    /// - Throws: `CocoaError`; the call may be repeated.
    public func close() throws { try perform(.writing) { (state) throws(CofferError) in try state.file.close() } }
}
