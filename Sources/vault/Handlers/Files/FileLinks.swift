internal import CofferCore
internal import CofferFiles
internal import CofferSystem
package import CofferVault
package import CofferWire

// Symbolic links, and further names of files.

extension FileHandlers {
    package func fileSymlink(_ params: FileSymlinkParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't make \(params.name.quoted)")
        return try makeName(params.name, in: group) { files in
            try files.makeSymbolicLink(
                params.name,
                to: params.target,
                in: group,
                ownership: Ownership(mode: nil, uid: params.uid, gid: params.gid),
                now: wallClockMilliseconds()
            )
        }
    }

    package func fileLink(_ params: FileLinkParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't give \(params.name.quoted) another name")
        return try settled(params.name, in: group, call) { [self] in
            try makeName(params.target, in: group) { files in
                try files.link(params.name, to: params.target, in: group, now: wallClockMilliseconds())
            }
        }
    }

    /// Makes a name that nothing has yet.
    private func makeName(_ name: ItemName, in group: String, _ make: (FileStore) throws -> Void) throws -> Step {
        let catalog = try catalog
        let info = try catalog.change { changes in
            try catalog.checkNotSecret(name, in: group)
            try make(catalog.files)
            let info = try fileInfo(name, in: group)
            changes.note(ItemChange(.added, file: name, in: group, inode: info.inode))
            return info
        }
        return .done(Reply(info))
    }
}
