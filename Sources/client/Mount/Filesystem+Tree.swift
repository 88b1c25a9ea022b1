internal import CFuse
internal import CofferClient
internal import CofferCore
internal import CofferWire
internal import Glibc
internal import Synchronization

// Changes of the tree.
extension Filesystem {
    /// Makes a directory.
    func makeDirectory(_ name: FileName, in parent: UInt64, _ birth: Birth) throws(Errno) -> Attributes {
        let path = try path(of: name, in: parent)
        let params = FileMkdirParameters(
            name: path,
            mode: birth.mode,
            uid: birth.userID,
            gid: birth.groupID,
            group: group
        )
        return try making(name, in: parent) { () throws(Errno) in
            try change(params) { () throws(Errno) in try file(at: path) }
        }
    }

    /// Removes a file, which goes on for the programs that have it open.
    func removeFile(_ name: FileName, in parent: UInt64) throws(Errno) {
        try remove(name, in: parent)
        nodes.withLock { $0.remove(NodeTable.Place(parent, name)) }
    }

    /// Removes an empty directory, which goes on for the programs that are in it.
    func removeDirectory(_ name: FileName, in parent: UInt64) throws(Errno) {
        let place = NodeTable.Place(parent, name)
        let attributes = nodes.withLock { $0.number(at: place) }.flatMap { try? self.attributes(of: $0) }
        try remove(name, in: parent)
        nodes.withLock { $0.remove(place, directory: attributes) }
    }

    private func remove(_ name: FileName, in parent: UInt64) throws(Errno) {
        let path = try path(of: name, in: parent)
        settle()
        let params = FileRemoveParameters(name: path, keepsDirectories: true, group: group)
        let place = NodeTable.Place(parent, name)
        let number = nodes.withLock { $0.number(at: place) }
        let ticket = recent.beginChange()
        do throws(Errno) {
            _ = try change(params) { () throws(Errno) in
                try file(at: path) == nil ? CountResult(count: 1) : nil
            }
        } catch {
            recent.forget()
            throw error
        }
        recent.removed(name, number, in: parent, since: ticket)
    }

    /// Makes a symbolic link.
    func makeSymbolicLink(
        to target: String,
        _ name: FileName,
        in parent: UInt64,
        _ birth: Birth
    ) throws(Errno) -> Attributes {
        let path = try path(of: name, in: parent)
        let params = FileSymlinkParameters(
            name: path,
            target: target,
            uid: birth.userID,
            gid: birth.groupID,
            group: group
        )
        return try making(name, in: parent) { () throws(Errno) in
            try change(params) { () throws(Errno) in try file(at: path) }
        }
    }

    /// Where a symbolic link leads.
    func target(of number: UInt64) throws(Errno) -> String {
        guard let target = try attributes(of: number).target else { throw .invalid }
        return target
    }

    /// Gives a file another name.
    func link(_ number: UInt64, as name: FileName, in parent: UInt64) throws(Errno) -> Attributes {
        guard let path = try self.name(of: number) else { throw .notPermitted }
        settle()
        let target = try self.path(of: name, in: parent)
        let params = FileLinkParameters(name: path, target: target, group: group)
        let made = try change(params, naming: number) { () throws(Errno) in try file(at: target) }
        return learn(made, as: name, in: parent)
    }

    /// Renames an entry.
    ///
    /// - Parameter flags: Those of renameat2(2).
    func rename(
        _ name: FileName,
        in parent: UInt64,
        to newName: FileName,
        in newParent: UInt64,
        flags: UInt32
    ) throws(Errno) {
        guard [0, UInt32(RENAME_NOREPLACE), UInt32(RENAME_EXCHANGE)].contains(flags) else { throw .invalid }
        let exchanges = flags == UInt32(RENAME_EXCHANGE)
        settle()
        let (path, newPath) = (try path(of: name, in: parent), try path(of: newName, in: newParent))
        let params = FileRenameParameters(
            name: path,
            target: newPath,
            replaces: flags == 0,
            exchanges: exchanges,
            keepsDirectories: true,
            group: group
        )
        let (place, target) = (NodeTable.Place(parent, name), NodeTable.Place(newParent, newName))
        let number = nodes.withLock { $0.number(at: place) }
        _ = try change(params, naming: number) { () throws(Errno) in
            try file(at: newPath).flatMap { $0.inode == number.map(Int64.init(clamping:)) ? $0 : nil }
        }
        nodes.withLock { nodes in
            // Two names of one file stay as they are.
            if exchanges { nodes.exchange(place, target) } else { nodes.move(place, to: target) }
        }
    }
}

/// With what a file comes into being.
struct Birth: Sendable {
    let mode: Int64
    let userID: Int64?
    let groupID: Int64?

    /// - Parameters:
    ///   - mode: The permission bits.
    ///   - owner: The program's user and group, which are kept if they are not those of the mount.
    ///   - own: The user and the group of the mount.
    init(mode: UInt32, owner: Owner, own: Owner) {
        self.mode = Int64(mode & 0o7777)
        userID = owner.userID == own.userID ? nil : Int64(owner.userID)
        groupID = owner.groupID == own.groupID ? nil : Int64(owner.groupID)
    }
}

/// A user and a group.
struct Owner: Sendable {
    let userID: UInt32
    let groupID: UInt32
}
