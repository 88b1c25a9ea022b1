internal import Glibc

/// A directory for copies, for the owner only; it is removed with the value.
package final class ScratchDirectory {
    private static let parent = "/tmp"

    /// The directory.
    package let directory: Directory
    private let name: String

    /// Makes a directory.
    package init() throws(SystemError) {
        var template = Array("\(Self.parent)/coffer-XXXXXX".utf8CString)
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let path = buffer.baseAddress else { return false }
            return unsafe mkdtemp(path) != nil
        }
        guard isMade else { throw SystemError("mkdtemp") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        name = String(path.dropFirst(Self.parent.count + 1))
        directory = try Directory(openingPath: path)
    }

    /// Removes directories that killed processes have left, of the kind whose users lock them, and the daemons in them
    /// their state.
    ///
    /// - Parameter isOfKind: Whether a directory is of that kind.
    package static func removeAbandoned(_ isOfKind: (Directory) -> Bool) throws(SystemError) {
        let all = try Directory(openingPath: parent)
        for name in try all.entries() where name.hasPrefix("coffer-") && name.utf8.count == 13 {
            guard let found = try? Directory(openingPath: "\(parent)/\(name)"), (try? found.requireOwn()) != nil,
                isOfKind(found), (try? found.lock()) == true
            else { continue }
            if found.contains("state"), (try? found.subdirectory("state").lock()) != true { continue }
            try? all.removeTree(name)
        }
    }

    deinit { try? Directory(openingPath: Self.parent).removeTree(name) }
}

extension Directory {
    private static let copyBytes = 64 << 10

    /// Whether the file system is read-only, for every user.
    package var isReadOnly: Bool {
        unsafe faccessat(descriptor.number, ".", W_OK, 0) != 0 && errno == EROFS
    }

    /// Copies a file, if it exists, to another directory, where the name must not exist.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - target: The other directory.
    package func copyIfPresent(_ name: String, to target: Directory) throws(SystemError) {
        guard let source = try openIfPresent(name) else { return }
        let copy = try target.create(name)
        var offset: Int64 = 0
        while case let bytes = try source.bytes(Self.copyBytes, at: offset), !bytes.isEmpty {
            unsafe try copy.write(all: bytes.span.bytes)
            offset += Int64(bytes.count)
        }
    }
}
