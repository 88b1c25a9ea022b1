internal import CofferClient
internal import CofferCore
public import Foundation
internal import Synchronization

/// A file of Coffer that is open, by the names of Foundation's `FileHandle`.
///
/// It has a connection of its own, and is closed when it goes. Where the class of the file says so, a lock ends it: its
/// methods throw `fileReadNoPermission` or `fileWriteNoPermission` from there on. A program that is ported says
/// `typealias FileHandle = CofferFileHandle` once.
public final class CofferFileHandle: Sendable {
    private let path: String
    private let state: Mutex<OpenState>

    /// Sendable: one thread at a time has it, by the mutex.
    private struct OpenState: @unchecked Sendable {
        let file: OpenedFile
        var offset: Int64 = 0
    }

    /// Opens a file for reading.
    ///
    /// - Parameter url: The file.
    /// - Throws: `CocoaError`.
    public convenience init(forReadingFrom url: CofferURL) throws { try self.init(url, .read) }

    /// Opens a file for writing, from its beginning on: what is there already stays until something is written over it.
    ///
    /// - Parameter url: The file, which has to exist.
    /// - Throws: `CocoaError`.
    public convenience init(forWritingTo url: CofferURL) throws { try self.init(url, .write) }

    /// Opens a file for reading and writing.
    ///
    /// - Parameter url: The file, which has to exist.
    /// - Throws: `CocoaError`.
    public convenience init(forUpdating url: CofferURL) throws { try self.init(url, .readWrite) }

    private init(_ url: CofferURL, _ access: FileAccess) throws {
        path = url.path
        do throws(CofferError) {
            // The connection stays with the file, and ends with it.
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

    /// Reads what is left.
    ///
    /// - Returns: `nil` at the end.
    /// - Throws: `CocoaError`.
    public func readToEnd() throws -> Data? { try read(upToCount: .max) }

    /// Reads.
    ///
    /// - Parameter count: The most bytes.
    /// - Returns: `nil` at the end.
    /// - Throws: `CocoaError`.
    public func read(upToCount count: Int) throws -> Data? {
        try perform(.reading) { (state) throws(CofferError) in
            let data = try state.file.readData(at: state.offset, count)
            state.offset += Int64(data.count)
            return data.isEmpty ? nil : data
        }
    }

    /// Writes; it is kept once it was synchronized or closed.
    ///
    /// - Parameter data: What is written.
    /// - Throws: `CocoaError`.
    public func write(contentsOf data: Data) throws {
        try perform(.writing) { (state) throws(CofferError) in
            try state.file.writeData(data, at: state.offset)
            state.offset += Int64(data.count)
        }
    }

    /// Where the next byte is read or written.
    public func offset() throws -> UInt64 { state.withLock { UInt64($0.offset) } }

    /// Goes to a place.
    ///
    /// - Parameter offset: The place, in bytes.
    /// - Throws: `CocoaError` where no file is so long.
    public func seek(toOffset offset: UInt64) throws {
        try perform(.reading) { (state) throws(CofferError) in
            guard offset <= UInt64(Limits.fileBytes) else {
                throw CofferError(.dataTooLarge, "no file has \(offset) bytes: the limit is \(Limits.fileBytes)")
            }
            state.offset = Int64(offset)
        }
    }

    /// Goes to the end.
    ///
    /// - Returns: The place, in bytes.
    @discardableResult public func seekToEnd() throws -> UInt64 {
        state.withLock { state in
            state.offset = state.file.byteCount
            return UInt64(state.offset)
        }
    }

    /// Cuts the file off, or adds zeros, and goes to the end.
    ///
    /// - Parameter offset: The bytes that it is to have.
    /// - Throws: `CocoaError`.
    public func truncate(atOffset offset: UInt64) throws {
        try seek(toOffset: offset)
        try perform(.writing) { (state) throws(CofferError) in try state.file.truncate(to: Int64(offset)) }
    }

    /// Waits until all that was written is on the disk.
    ///
    /// - Throws: `CocoaError`.
    public func synchronize() throws { try perform(.writing) { (state) throws(CofferError) in try state.file.sync() } }

    /// Synchronizes, and gives the handle back.
    ///
    /// - Throws: `CocoaError`; it can be tried again then.
    public func close() throws { try perform(.writing) { (state) throws(CofferError) in try state.file.close() } }
}
