internal import CofferCore

/// The mode and the owner of a node, as far as a client has stated them.
///
/// The store keeps them and enforces nothing by them: access groups and classes decide who may do what.
package struct Ownership: Equatable, Sendable {
    /// The permission bits of POSIX, at most 07777; `nil` if none were stated.
    package var mode: UInt16?
    /// The numbers of the owner and of the owner's group; `nil` if none were stated.
    package var uid: UInt32?
    package var gid: UInt32?

    package init(mode: UInt16? = nil, uid: UInt32? = nil, gid: UInt32? = nil) {
        self.mode = mode
        self.uid = uid
        self.gid = gid
    }

    /// Creates what a request states, after its bounds were checked.
    package init(mode: Int64?, uid: Int64?, gid: Int64?) {
        self.init(
            mode: mode.map { UInt16(truncatingIfNeeded: $0) },
            uid: uid.map { UInt32(truncatingIfNeeded: $0) },
            gid: gid.map { UInt32(truncatingIfNeeded: $0) }
        )
    }

    /// The permission bits of POSIX.
    package static let permissions: UInt16 = 0o7777

    // On disk, what was not stated is the highest number, which is no valid one.

    func write(to writer: inout ByteWriter) {
        writer.write(mode ?? .max)
        writer.write(uid ?? .max)
        writer.write(gid ?? .max)
    }

    init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        let mode = try reader.read(UInt16.self)
        let (uid, gid) = (try reader.read(UInt32.self), try reader.read(UInt32.self))
        guard mode <= Self.permissions || mode == .max else { throw ByteReader.Malformed() }
        self.init(
            mode: mode == .max ? nil : mode,
            uid: uid == .max ? nil : uid,
            gid: gid == .max ? nil : gid
        )
    }
}
