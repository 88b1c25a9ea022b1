package import CofferCore
internal import CofferWire

/// What the kernel wants to know of a file.
package struct Attributes: Hashable, Sendable {
    /// What kind of file it is.
    package enum Kind: Sendable {
        case file, directory, symbolicLink
    }

    /// Nanoseconds since 1970.
    package struct Times: Hashable, Sendable {
        package var accessed: Int64
        package var modified: Int64
        package var changed: Int64
    }

    /// Its number: the inode.
    package var number: UInt64
    package var kind: Kind
    /// The permission bits.
    package var mode: UInt32
    package var linkCount: Int
    /// The owner; `nil` if none was stated: the user of the mount.
    package var userID: UInt32?
    package var groupID: UInt32?
    package var byteCount: Int64
    /// The bytes of the disk that it takes; `nil` for as many as it has.
    package var storedByteCount: Int64?
    package var times: Times
    /// The class of a file, or the default class of a directory.
    package var protectionClass: ProtectionClass?
    /// Where a symbolic link leads.
    package var target: String?

    /// The attributes of the root of the vault, which has no entry in it.
    package static func root(at now: Int64) -> Attributes {
        Attributes(
            number: NodeTable.root,
            kind: .directory,
            mode: 0o700,
            linkCount: 1,
            byteCount: 0,
            times: Times(accessed: now, modified: now, changed: now)
        )
    }
}

extension Attributes {
    /// The attributes of an entry of the vault.
    init(_ file: FileInfo) {
        self.init(
            number: UInt64(clamping: file.inode),
            kind: Kind(file.type),
            mode: UInt32(truncatingIfNeeded: file.mode) & 0o7777,
            linkCount: Int(clamping: file.linkCount),
            userID: file.uid.map { UInt32(truncatingIfNeeded: $0) },
            groupID: file.gid.map { UInt32(truncatingIfNeeded: $0) },
            byteCount: file.byteCount,
            storedByteCount: file.storedByteCount,
            times: Times(
                accessed: file.accessedNanoseconds,
                modified: file.modifiedNanoseconds,
                changed: file.changedNanoseconds
            ),
            protectionClass: file.protectionClass,
            target: file.target
        )
    }
}

extension Attributes.Kind {
    fileprivate init(_ type: FileType) {
        self =
            switch type {
            case .file: .file
            case .directory: .directory
            case .symbolicLink: .symbolicLink
            }
    }
}

/// A change of attributes; what is absent stays.
package struct AttributeChange: Sendable {
    package var mode: UInt32?
    package var userID: UInt32?
    package var groupID: UInt32?
    package var byteCount: Int64?
    /// Whether a program changes them through a descriptor, and not by a path.
    package var isByDescriptor = false
    /// Nanoseconds since 1970.
    package var accessed: Int64?
    package var modified: Int64?

    package init() {}

    /// Whether it concerns more than the size.
    var changesMore: Bool { mode != nil || userID != nil || groupID != nil || accessed != nil || modified != nil }
}
