internal import CCofferShims
internal import Glibc

/// A directory in a file system that has no disk, for the owner only; its files are wiped, and it is removed, with the value.
package final class MemoryDirectory {
    /// Its path.
    package let path: String
    private let parent: Directory
    private let name: String

    /// Makes a directory.
    ///
    /// - Parameter parents: Where it may be, in the order of preference; only those in memory are taken.
    /// - Throws: `ENOTSUP` if none of them is.
    package init(in parents: [String]) throws(SystemError) {
        for parent in parents where unsafe coffer_is_in_memory(parent) == 1 {
            var template = Array("\(parent)/coffer-XXXXXX".utf8CString)
            let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
                guard let path = buffer.baseAddress else { return false }
                return unsafe mkdtemp(path) != nil
            }
            guard isMade else { continue }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            name = String(decoding: path.utf8.dropFirst(parent.utf8.count + 1), as: UTF8.self)
            self.parent = try Directory(openingPath: parent)
            return
        }
        throw SystemError("mkdtemp", code: ENOTSUP)
    }

    deinit { wipe() }

    /// Overwrites all files, those that an editor has left included, and removes the directory.
    package func wipe() {
        if let directory = try? parent.subdirectoryIfPresent(name) {
            for file in (try? directory.entries()) ?? [] { try? directory.shred(file) }
        }
        try? parent.removeTree(name)
    }
}
