package import CofferClient
internal import CofferSystem
internal import Glibc

/// What is below a directory of the machine.
package enum DirectoryWalk {
    /// A file, or something that is none.
    package struct Entry {
        /// The path, which begins with that of the directory.
        package let path: String
        /// The path below the directory.
        package let relativePath: String
        package let byteCount: Int64
        /// Why it can't be stored; `nil` for a file.
        package let fault: String?
    }

    /// Whether a path leads to a directory, also by a symbolic link.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Everything below a directory that is no directory itself, in the order of the names.
    ///
    /// No symbolic link is followed.
    ///
    /// - Throws: `io`, or `param` if directories are nested more deeply than names can be.
    package static func entries(below path: String) throws(CofferError) -> [Entry] {
        var entries: [Entry] = []
        try visit(path, "", depth: 0) { entries.append($0) }
        return entries
    }

    private static func visit(
        _ path: String,
        _ relativePath: String,
        depth: Int,
        _ take: (Entry) -> Void
    ) throws(CofferError) {
        guard depth < Limits.nameComponents else {
            throw CofferError(.param, "\(quotedForDisplay(path)) is nested too deeply for a name")
        }
        for name in try names(in: path) {
            let (inner, relative) = ("\(path)/\(name)", relativePath + name)
            var status = stat()
            guard unsafe lstat(inner, &status) == 0 else {
                if name.unicodeScalars.contains("\u{FFFD}") {
                    take(Entry(path: inner, relativePath: relative, byteCount: 0, fault: "its name is not UTF-8"))
                    continue
                }
                throw SystemError("lstat").cofferError("can't read \(quotedForDisplay(inner))")
            }
            if status.st_mode & S_IFMT == S_IFDIR {
                try visit(inner, relative + "/", depth: depth + 1, take)
            } else {
                let fault = fault(of: status.st_mode)
                take(Entry(path: inner, relativePath: relative, byteCount: Int64(status.st_size), fault: fault))
            }
        }
    }

    private static func names(in path: String) throws(CofferError) -> [String] {
        do {
            let directory = try OwnedDescriptor("open") {
                unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            }
            return try directory.entries().sorted { $0.precedes(bytesOf: $1) }
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
    }

    private static func fault(of mode: mode_t) -> String? {
        switch mode & S_IFMT {
        case S_IFREG: nil
        case S_IFLNK: "it is a symbolic link"
        case S_IFIFO: "it is a named pipe"
        case S_IFSOCK: "it is a socket"
        default: "it is a device"
        }
    }
}
