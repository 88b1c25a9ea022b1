internal import CCofferShims
internal import Glibc

/// Extended attributes of files by their paths.
package enum ExtendedAttribute {
    /// The value of an attribute.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - path: The path of the file.
    ///   - limit: The most bytes that it may have.
    /// - Throws: Among others `ENODATA`, `EOPNOTSUPP`, `ERANGE`.
    package static func value(of name: String, at path: String, limit: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe getxattr(path, name, &bytes, limit)
        if count < 0 { throw SystemError("getxattr") }
        return Array(bytes.prefix(count))
    }

    /// Sets an attribute.
    ///
    /// - Throws: Among others `EOPNOTSUPP`, `EACCES`.
    package static func set(_ name: String, at path: String, to value: String) throws(SystemError) {
        if unsafe setxattr(path, name, value, value.utf8.count, 0) < 0 { throw SystemError("setxattr") }
    }
}
