internal import Glibc

/// The mounts of this process' namespace, and who uses them.
package enum MountTable {
    private static let tableBytes = 1 << 22
    /// `O_PATH`, which the module of the C library does not have.
    private static let placeOnly: Int32 = 0o10_000_000

    /// The absolute path at which a vault is mounted.
    ///
    /// The kernel says which mount a path leads to, so that links, `..` and several mounts at one place make no difference.
    /// It asks no process of a mount for that, which may have died.
    ///
    /// - Parameter path: A path that leads there.
    /// - Returns: `nil` if no vault is mounted there.
    package static func mount(at path: String) -> String? {
        guard let found = place(of: path), found.mount.isVault else { return nil }
        return found.path == found.mount.path ? found.mount.path : nil
    }

    /// Whether a path leads into a mounted vault, and not into another file system that is mounted below it.
    package static func isInVault(_ path: String) -> Bool { place(of: path)?.mount.isVault ?? false }

    /// A mount.
    private struct Mount {
        let path: String
        let isVault: Bool
    }

    /// The absolute path of what a path leads to, and the mount in which that is.
    private static func place(of path: String) -> (path: String, mount: Mount)? {
        let descriptor: OwnedDescriptor
        do { descriptor = try OwnedDescriptor.open(path, placeOnly) } catch { return nil }
        let own = "/proc/self/fd"
        guard let absolute = target(of: "\(own)/\(descriptor.number)"),
            let facts = text(of: "\(own)info/\(descriptor.number)"),
            let fact = facts.split(separator: "\n").first(where: { $0.hasPrefix("mnt_id:") }),
            let number = fact.split(separator: "\t").last, let mount = mount(numbered: number)
        else { return nil }
        return (absolute, mount)
    }

    private static func mount(numbered number: Substring) -> Mount? {
        guard let table = text(of: "/proc/self/mountinfo") else { return nil }
        for line in table.split(separator: "\n") where line.hasPrefix("\(number) ") {
            let fields = line.split(separator: " ")
            guard let separator = fields.firstIndex(of: "-"), separator + 1 < fields.count, separator > 4 else { break }
            return Mount(path: unescaped(fields[4]), isVault: fields[separator + 1] == "fuse.coffer")
        }
        return nil
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
