internal import Glibc

/// The programs that are installed beside this one.
package enum InstalledProgram {
    /// The path of a program in the directory of this one, or else its name, which is searched for in `$PATH`.
    package static func path(of name: String) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count - 1)
        guard count > 0 else { return name }
        let own = String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let beside = own[..<(own.lastIndex(of: "/") ?? own.startIndex)] + "/\(name)"
        return unsafe access(String(beside), X_OK) == 0 ? String(beside) : name
    }
}
