import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

/// How a program changes a tree of files: as a client of the daemon, or by a mount.
protocol TreeCalls {
    /// Whether the sync of the tree can include the contents of files that were closed.
    var syncsClosedFiles: Bool { get }

    /// Makes a file, with mode 0600, and opens it.
    func create(_ name: String) throws -> Int64
    func open(_ name: String) throws -> Int64
    func write(_ bytes: [UInt8], to handle: Int64, at offset: Int) throws
    func truncate(_ handle: Int64, to count: Int) throws
    func punch(_ range: Range<Int>, of handle: Int64) throws
    func sync(_ handle: Int64) throws
    func close(_ handle: Int64) throws
    func syncTree(includesClosedFiles: Bool) throws
    /// Renames an entry, over what is there.
    func rename(_ name: String, to target: String) throws
    func exchange(_ name: String, with other: String) throws
    func link(_ name: String, as target: String) throws
    func makeSymbolicLink(_ name: String, to target: String) throws
    func makeDirectory(_ name: String) throws
    func remove(_ name: String, isDirectory: Bool) throws
    func setMode(_ mode: Int64, of name: String) throws
    func setAttribute(_ attribute: String, to value: [UInt8], of name: String) throws
    func removeAttribute(_ attribute: String, of name: String) throws
}

/// A connection that defers syncs, as that of a mount.
struct DeferringClient: TreeCalls {
    private let client: BlockingClient

    init(_ client: BlockingClient) throws {
        self.client = client
        try client.call(HelloParameters(protocolNumber: Int64(Version.protocolNumber), defersSyncs: true))
    }

    var syncsClosedFiles: Bool { true }

    func create(_ name: String) throws -> Int64 {
        let params = FileOpenParameters(
            name: try ItemName(name),
            access: .readWrite,
            creates: true,
            isExclusive: true,
            isShared: true,
            mode: 0o600
        )
        return try client.call(params).value.handle
    }

    func open(_ name: String) throws -> Int64 {
        let params = FileOpenParameters(name: try ItemName(name), access: .readWrite, isShared: true)
        return try client.call(params).value.handle
    }

    func write(_ bytes: [UInt8], to handle: Int64, at offset: Int) throws {
        let secret: SecretBytes? = try SecretBytes(bytes)
        try client.call(FileWriteParameters(handle: handle, offset: Int64(offset)), payload: secret)
    }

    func truncate(_ handle: Int64, to count: Int) throws {
        try client.call(FileTruncateParameters(handle: handle, byteCount: Int64(count)))
    }

    func punch(_ range: Range<Int>, of handle: Int64) throws {
        let params = FilePunchParameters(handle: handle, offset: Int64(range.lowerBound), length: Int64(range.count))
        try client.call(params)
    }

    func sync(_ handle: Int64) throws { try client.call(FileSyncParameters(handle: handle)) }

    func close(_ handle: Int64) throws { try client.call(FileCloseParameters(handle: handle)) }

    func syncTree(includesClosedFiles: Bool) throws {
        try client.call(FileSyncTreeParameters(includesClosedFiles: includesClosedFiles))
    }

    func rename(_ name: String, to target: String) throws { try rename(name, target, replaces: true) }

    func exchange(_ name: String, with other: String) throws { try rename(name, other, replaces: false) }

    private func rename(_ name: String, _ target: String, replaces: Bool) throws {
        let params = FileRenameParameters(
            name: try ItemName(name),
            target: try ItemName(target),
            replaces: replaces,
            exchanges: !replaces,
            keepsDirectories: true
        )
        try client.call(params)
    }

    func link(_ name: String, as target: String) throws {
        try client.call(FileLinkParameters(name: try ItemName(name), target: try ItemName(target)))
    }

    func makeSymbolicLink(_ name: String, to target: String) throws {
        try client.call(FileSymlinkParameters(name: try ItemName(name), target: target))
    }

    func makeDirectory(_ name: String) throws { try client.call(FileMkdirParameters(name: try ItemName(name))) }

    func remove(_ name: String, isDirectory: Bool) throws {
        try client.call(FileRemoveParameters(name: try ItemName(name), keepsDirectories: true))
    }

    func setMode(_ mode: Int64, of name: String) throws {
        try client.call(FileSetAttributesParameters(name: try ItemName(name), mode: mode))
    }

    func setAttribute(_ attribute: String, to value: [UInt8], of name: String) throws {
        let secret: SecretBytes? = try SecretBytes(value)
        let params = FileSetExtendedAttributeParameters(name: try ItemName(name), attribute: attribute)
        try client.call(params, payload: secret)
    }

    func removeAttribute(_ attribute: String, of name: String) throws {
        try client.call(FileRemoveExtendedAttributeParameters(name: try ItemName(name), attribute: attribute))
    }
}

/// A directory in the kernel's tree, such as a mount.
struct DirectoryCalls: TreeCalls {
    /// A system call that failed.
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let code: Int32

        var description: String { "\(call): errno \(code)" }
    }

    private let root: String

    init(_ root: String) { self.root = root }

    /// fsync(2) of a directory concerns names.
    var syncsClosedFiles: Bool { false }

    private func path(_ name: String) -> String { "\(root)/\(name)" }

    @discardableResult private func expect(_ result: Int, _ call: String) throws -> Int {
        if result < 0 { throw Failure(call: call, code: errno) }
        return result
    }

    func create(_ name: String) throws -> Int64 {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
        return Int64(try expect(Int(Foundation.open(path(name), flags, 0o600)), "open of a new file"))
    }

    func open(_ name: String) throws -> Int64 {
        Int64(try expect(Int(Foundation.open(path(name), O_RDWR | O_CLOEXEC)), "open"))
    }

    func write(_ bytes: [UInt8], to handle: Int64, at offset: Int) throws {
        var done = 0
        // The kernel divides a write, and tells an error of a later part only of the rest.
        while done < bytes.count {
            let rest = Array(bytes[done...])
            done += try expect(pwrite(Int32(handle), rest, rest.count, off_t(offset + done)), "pwrite")
        }
    }

    func truncate(_ handle: Int64, to count: Int) throws {
        try expect(Int(ftruncate(Int32(handle), off_t(count))), "ftruncate")
    }

    func punch(_ range: Range<Int>, of handle: Int64) throws {
        try expect(
            GNUCalls.allocate(Int32(handle), mode: GNUCalls.punchHole, at: range.lowerBound, count: range.count),
            "fallocate"
        )
    }

    func sync(_ handle: Int64) throws { try expect(Int(fsync(Int32(handle))), "fsync") }

    func close(_ handle: Int64) throws { try expect(Int(Foundation.close(Int32(handle))), "close") }

    func syncTree(includesClosedFiles: Bool) throws {
        let number = try expect(Int(Foundation.open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)), "open of a directory")
        defer { Foundation.close(Int32(number)) }
        try expect(Int(fsync(Int32(number))), "fsync of a directory")
    }

    func rename(_ name: String, to target: String) throws {
        try expect(Int(Foundation.rename(path(name), path(target))), "rename")
    }

    func exchange(_ name: String, with other: String) throws {
        try expect(GNUCalls.rename(path(name), to: path(other), flags: GNUCalls.exchange), "renameat2")
    }

    func link(_ name: String, as target: String) throws {
        try expect(Int(Foundation.link(path(name), path(target))), "link")
    }

    func makeSymbolicLink(_ name: String, to target: String) throws {
        try expect(Int(Foundation.symlink(target, path(name))), "symlink")
    }

    func makeDirectory(_ name: String) throws { try expect(Int(mkdir(path(name), 0o700)), "mkdir") }

    func remove(_ name: String, isDirectory: Bool) throws {
        try expect(Int(isDirectory ? rmdir(path(name)) : unlink(path(name))), "unlink or rmdir")
    }

    func setMode(_ mode: Int64, of name: String) throws { try expect(Int(chmod(path(name), mode_t(mode))), "chmod") }

    func setAttribute(_ attribute: String, to value: [UInt8], of name: String) throws {
        try expect(GNUCalls.setAttribute(attribute, to: value, of: path(name)), "setxattr")
    }

    func removeAttribute(_ attribute: String, of name: String) throws {
        try expect(GNUCalls.removeAttribute(attribute, of: path(name)), "removexattr")
    }
}
