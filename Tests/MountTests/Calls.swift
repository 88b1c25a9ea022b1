import CCofferShims
import Foundation
import Testing

/// The outcome of a system call: its `errno`, or 0.
func errnoOf(_ call: () -> Int) -> Int32 { call() < 0 ? errno : 0 }

/// A file that is open in the tests.
final class OpenDescriptor {
    let number: Int32

    init(_ path: String, _ flags: Int32, mode: mode_t = 0o644) throws {
        number = open(path, flags | O_CLOEXEC, mode)
        if number < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(number) }

    /// Writes at an offset.
    ///
    /// - Returns: The `errno`, or 0.
    func write(_ text: String, at offset: Int = 0) -> Int32 {
        let bytes = Array(text.utf8)
        return errnoOf { pwrite(number, bytes, bytes.count, off_t(offset)) }
    }

    /// Reads from an offset.
    func read(_ count: Int = 4096, at offset: Int = 0) -> Result<String, POSIXError> {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = pread(number, &bytes, count, off_t(offset))
        if got < 0 { return .failure(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)) }
        return .success(String(decoding: bytes.prefix(got), as: UTF8.self))
    }

    /// The `errno` of a read, or 0.
    var readError: Int32 {
        switch read() {
        case .success: 0
        case .failure(let error): Int32(error.code.rawValue)
        }
    }

    func sync() -> Int32 { errnoOf { Int(fsync(number)) } }

    var size: Int { status.map { Int($0.st_size) } ?? -1 }

    var status: stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }
}

/// Writes a file, and syncs it.
func put(_ text: String, to path: String) throws {
    let file = try OpenDescriptor(path, O_WRONLY | O_CREAT | O_TRUNC)
    #expect(file.write(text) == 0)
    #expect(file.sync() == 0)
}

/// What a file contains.
func content(of path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

/// The entries of a directory, sorted.
func names(in path: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

/// Sets the class of a file, or the default of a directory.
///
/// - Returns: The `errno`, or 0.
func setClass(_ word: String, of path: String) -> Int32 {
    errnoOf { Int(setxattr(path, "user.coffer.class", word, word.utf8.count, 0)) }
}

/// Removes the class of a file.
///
/// - Returns: The `errno`, or 0.
func removeClass(of path: String) -> Int32 { errnoOf { Int(removexattr(path, "user.coffer.class")) } }

/// The class of a file; an `errno` as text if there is none.
func classOf(_ path: String) -> String {
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = getxattr(path, "user.coffer.class", &bytes, bytes.count)
    return count < 0 ? "errno \(errno)" : String(decoding: bytes.prefix(count), as: UTF8.self)
}
