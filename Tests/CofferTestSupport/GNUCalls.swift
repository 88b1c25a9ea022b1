import Foundation

/// Functions of the C library that Swift's modules do not have.
package enum GNUCalls {
    private typealias Rename =
        @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
    private typealias Allocate = @convention(c) (Int32, Int32, off_t, off_t) -> Int32
    private typealias SetAttribute =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32) -> Int32
    private typealias GetAttribute =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
    private typealias ListAttributes =
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<CChar>?, Int) -> Int
    private typealias RemoveAttribute =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32

    private static func function<Function>(_ name: String, as: Function.Type) -> Function {
        guard let address = dlsym(nil, name) else { fatalError("the C library has no \(name)") }
        return unsafeBitCast(address, to: Function.self)
    }

    /// renameat2(2), by absolute paths.
    package static func rename(_ path: String, to target: String, flags: UInt32) -> Int {
        Int(function("renameat2", as: Rename.self)(AT_FDCWD, path, AT_FDCWD, target, flags))
    }

    /// `RENAME_NOREPLACE` and `RENAME_EXCHANGE`.
    package static let (noReplace, exchange) = (UInt32(1), UInt32(2))

    /// fallocate(2).
    package static func allocate(_ number: Int32, mode: Int32, at offset: Int, count: Int) -> Int {
        Int(function("fallocate", as: Allocate.self)(number, mode, off_t(offset), off_t(count)))
    }

    /// `FALLOC_FL_KEEP_SIZE`, and with it `FALLOC_FL_PUNCH_HOLE`.
    package static let (keepSize, punchHole) = (Int32(1), Int32(3))

    /// setxattr(2).
    package static func setAttribute(_ name: String, to value: [UInt8], of path: String, flags: Int32 = 0) -> Int {
        Int(function("setxattr", as: SetAttribute.self)(path, name, value, value.count, flags))
    }

    /// removexattr(2).
    package static func removeAttribute(_ name: String, of path: String) -> Int {
        Int(function("removexattr", as: RemoveAttribute.self)(path, name))
    }

    /// getxattr(2).
    ///
    /// - Returns: The value; `nil` if it can't be read, and `errno` says why.
    package static func attribute(_ name: String, of path: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = function("getxattr", as: GetAttribute.self)(path, name, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// listxattr(2), sorted.
    ///
    /// - Returns: The names; `nil` if they can't be read, and `errno` says why.
    package static func attributes(of path: String) -> [String]? {
        var bytes = [CChar](repeating: 0, count: 65_536)
        let count = function("listxattr", as: ListAttributes.self)(path, &bytes, bytes.count)
        if count < 0 { return nil }
        let names = bytes.prefix(count).split(separator: 0)
        return names.map { String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self) }.sorted()
    }
}
