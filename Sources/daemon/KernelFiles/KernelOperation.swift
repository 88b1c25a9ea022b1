internal import CKernelFiles
internal import CofferCore
package import CofferVault
package import CofferWire
internal import Glibc

/// What the kernel asks of a file system, as far as a vault answers it.
package enum KernelOperation: Sendable {
    /// Finds an entry of a directory.
    case lookUp(FileName)
    case getAttributes
    case setAttributes(AttributeChange)
    case readLink
    case makeFile(FileName, mode: UInt32)
    case makeDirectory(FileName, mode: UInt32)
    case makeLink(FileName, target: String)
    /// Gives a node a further name.
    case link(UInt64, FileName)
    case removeFile(FileName)
    case removeDirectory(FileName)
    case rename(FileName, directory: UInt64, FileName, flags: UInt32)
    case open(OpenMode)
    case create(FileName, OpenMode, mode: UInt32)
    case read(Range<Int64>)
    /// The bytes come with the request.
    case write(offset: Int64, WriteKind)
    case release(OpenMode)
    case sync
    case syncDirectory
    case allocate(offset: Int64, byteCount: Int64, flags: Int32)
    case seek(offset: Int64, whence: Int32)
    /// Copies from the node to another one.
    case copy(to: UInt64)
    case list(cookie: UInt64, byteCount: Int, isWhole: Bool)
    case getExtendedAttribute(String, limit: Int)
    case listExtendedAttributes(limit: Int)
    /// The value comes with the request.
    case setExtendedAttribute(String, flags: UInt32)
    case removeExtendedAttribute(String)
    case space
    /// The first message: what both sides can.
    case begin(KernelAbilities)
    /// The kernel does not need some nodes any more, each with how often it had looked it up; it waits for no answer.
    case forget([(node: UInt64, count: UInt64)])
    /// Nothing to be done, and no answer.
    case nothing
}

/// How a program opens a file.
package struct OpenMode: Sendable {
    package let writes: Bool
    package let truncates: Bool
    package let isExclusive: Bool
    /// Whether the bits of its mode go by which it would run with the rights of its owner.
    package let dropsSpecialBits: Bool

    /// - Parameters:
    ///   - flags: Those of open(2).
    ///   - openFlags: Those that the kernel adds.
    init(flags: UInt32, _ openFlags: UInt32 = 0) {
        let flags = Int32(truncatingIfNeeded: flags)
        writes = flags & O_ACCMODE != O_RDONLY
        truncates = flags & O_TRUNC != 0
        isExclusive = flags & O_EXCL != 0
        dropsSpecialBits = openFlags & UInt32(FUSE_OPEN_KILL_SUIDGID) != 0
    }
}

/// Where a write comes from.
package struct WriteKind: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// From memory in which a program has mapped the file.
    static let mapped = WriteKind(rawValue: UInt32(FUSE_WRITE_CACHE))
    /// The bits of the mode go by which the file would run with the rights of its owner.
    static let dropsSpecialBits = WriteKind(rawValue: UInt32(FUSE_WRITE_KILL_SUIDGID))
}

/// A change of attributes; what is absent stays.
package struct AttributeChange: Sendable {
    package var mode: UInt32?
    package var userID: UInt32?
    package var groupID: UInt32?
    package var byteCount: Int64?
    /// Whether the program has the file open.
    package var isByDescriptor = false
    /// Whether the bits of the mode go by which the file would run with the rights of its owner.
    package var dropsSpecialBits = false
    /// Nanoseconds since 1970.
    package var accessed: Int64?
    package var modified: Int64?

    /// Whether it concerns more than the size.
    var changesMore: Bool { mode != nil || userID != nil || groupID != nil || accessed != nil || modified != nil }
}

extension KernelOperation {
    /// The method of the protocol that does the same, whose rights it needs and whose name the audit has; `nil` for what
    /// concerns the mount alone.
    package var method: Method? {
        switch self {
        case .lookUp, .getAttributes, .readLink: .fileStat
        case .setAttributes: .fileSetAttributes
        case .makeFile, .open, .create: .fileOpen
        case .makeDirectory: .fileMkdir
        case .makeLink: .fileSymlink
        case .link: .fileLink
        case .removeFile, .removeDirectory: .fileRemove
        case .rename: .fileRename
        case .read: .fileRead
        case .write: .fileWrite
        case .release: .fileClose
        // Neither needs a right: a program that may only read can sync what it reads, files and directories.
        case .sync, .syncDirectory: .fileSync
        case .allocate: .fileAllocate
        case .seek: .fileExtent
        case .list: .fileList
        case .getExtendedAttribute: .fileGetExtendedAttribute
        case .listExtendedAttributes: .fileListExtendedAttributes
        case .setExtendedAttribute(let name, _):
            name == KernelMount.classAttribute ? .fileProtect : .fileSetExtendedAttribute
        case .removeExtendedAttribute(let name):
            name == KernelMount.classAttribute ? .fileProtect : .fileRemoveExtendedAttribute
        case .copy: .fileProtect
        case .space: .fileSpace
        case .begin, .forget, .nothing: nil
        }
    }

    /// The parameters by which the gate tells reading from writing.
    package var gateParameters: JSONObject {
        switch self {
        case .makeFile, .create: Self.creating
        case .open(let mode) where mode.writes: Self.writing
        default: JSONObject()
        }
    }

    private static let writing: JSONObject = ["access": "readWrite"]
    private static let creating: JSONObject = ["access": "readWrite", "create": true]

    /// Whether it may change something, so that a read-only mount refuses it.
    package var changes: Bool {
        switch self {
        case .setAttributes, .makeFile, .makeDirectory, .makeLink, .link, .removeFile, .removeDirectory, .rename,
            .create,
            .write, .allocate, .copy, .setExtendedAttribute, .removeExtendedAttribute:
            true
        case .open(let mode): mode.writes
        case .lookUp, .getAttributes, .readLink, .read, .release, .sync, .syncDirectory, .seek, .list,
            .getExtendedAttribute, .listExtendedAttributes, .space, .begin, .forget, .nothing:
            false
        }
    }

    /// Whether the kernel asks by itself, and so names no user: it closes a file, or writes mapped memory back.
    package var namesNoUser: Bool {
        switch self {
        case .release: true
        case .write(_, let kind): kind.contains(.mapped)
        default: false
        }
    }

    /// What it depends on: a read waits until a change is committed.
    package var scope: RequestScope {
        switch self {
        case .lookUp, .getAttributes, .readLink, .seek, .list, .getExtendedAttribute, .listExtendedAttributes, .space:
            .reading(.catalog)
        case .read: .reading(.handle(-1))
        case .begin, .forget, .nothing: .free
        default: .changing(.catalog)
        }
    }

    /// Whether its answer waits for the commit of its turn.
    package var mayCommit: Bool {
        if case .changing = scope { true } else { false }
    }
}
