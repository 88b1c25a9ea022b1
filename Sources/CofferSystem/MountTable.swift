internal import Glibc

/// The mounts of this process' namespace, and who uses them.
package enum MountTable {
    private static let tableBytes = 1 << 22

    /// The absolute path at which a vault is mounted.
    ///
    /// - Parameter path: A path that leads there.
    /// - Returns: `nil` if no vault is mounted there.
    package static func mount(at path: String) -> String? {
        let absolute = resolved(path)
        return mountedVaults.last { $0 == absolute }
    }

    /// The directory is resolved without the mount itself, whose process may have died.
    private static func resolved(_ path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let last = parts.last, last != "..", last != "." else { return realPath(path) ?? path }
        let parent =
            path.hasPrefix("/")
            ? "/" + parts.dropLast().joined(separator: "/") : parts.dropLast().joined(separator: "/")
        guard let real = realPath(parent.isEmpty ? "." : parent) else { return path }
        return real == "/" ? "/\(last)" : "\(real)/\(last)"
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// Whether a path leads into a mounted vault, and not into another file system that is mounted below it.
    package static func isInVault(_ path: String) -> Bool {
        guard let real = realPath(path) else { return false }
        // Of several mounts at one path, the last one is seen.
        let innermost = mounts.reversed().filter { isInside(real, $0.path) }.max {
            $0.path.utf8.count < $1.path.utf8.count
        }
        return innermost?.isVault ?? false
    }

    private static var mountedVaults: [String] { mounts.filter(\.isVault).map(\.path) }

    /// All mounts, in their order.
    private static var mounts: [(path: String, isVault: Bool)] {
        guard let table = text(of: "/proc/self/mounts") else { return [] }
        return table.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            return fields.count > 2 ? (unescaped(fields[1]), fields[2] == "fuse.coffer") : nil
        }
    }

    /// Undoes the octal escapes of spaces and the like.
    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Holders

    /// A process that uses a mount.
    package struct Holder: Sendable {
        package let number: Int
        package let name: String
    }

    /// The processes that have a file or a directory of a mount open, mapped, or as their current directory, as far as
    /// this user may see it.
    package static func holders(of path: String) -> [Holder] {
        names(in: "/proc").compactMap { Int($0) }.sorted().filter { uses(path, process: $0) }.map { number in
            let name = text(of: "/proc/\(number)/comm")?.split(separator: "\n").first.map(String.init)
            return Holder(number: number, name: name ?? "a process")
        }
    }

    private static func uses(_ path: String, process: Int) -> Bool {
        let own = "/proc/\(process)"
        let links = ["\(own)/cwd", "\(own)/root", "\(own)/exe"] + names(in: "\(own)/fd").map { "\(own)/fd/\($0)" }
        if links.contains(where: { target(of: $0).map { isInside($0, path) } ?? false }) { return true }
        return text(of: "\(own)/maps")?.split(separator: "\n").contains { line in
            line.firstIndex(of: "/").map { isInside(String(line[$0...]), path) } ?? false
        } ?? false
    }

    private static func isInside(_ path: String, _ directory: String) -> Bool {
        path == directory || directory == "/" || path.hasPrefix(directory + "/")
    }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(link, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    private static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            unsafe withUnsafePointer(to: entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe names.append(String(cString: $0))
                }
            }
        }
        return names.filter { $0 != "." && $0 != ".." }
    }

    /// The text of a file of the kernel, as far as it can be read.
    private static func text(of path: String) -> String? {
        guard let file = try? OwnedDescriptor.open(path, O_RDONLY) else { return nil }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < tableBytes {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(file.number, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            bytes += piece.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
