internal import CofferCore
internal import CofferFiles
internal import CofferKeys
internal import CofferSystem
package import CofferVault
package import CofferWire

// The former contents of files.

extension FileHandlers {
    package func fileVersions(_ params: FileVersionsParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't list the versions of \(params.name.quoted)")
        let files = try catalog.files
        let entry = try files.requireEntry(params.name, in: group)
        let found = try files.versions.formerFiles(of: entry)
        let state = try keys.state
        let versions = found.versions.map { version in
            FileVersionInfo(
                number: version.number,
                replaced: version.replaced,
                byteCount: version.byteCount,
                protectionClass: version.protectionClass,
                isReadable: version.isReadable(as: entry.protectionClass ?? version.protectionClass, in: state)
            )
        }
        return .done(
            Reply(
                FileVersions(
                    keepCount: found.keepCount,
                    isInherited: found.isInherited,
                    versions: versions,
                    damaged: found.damaged
                )
            )
        )
    }

    package func fileKeepVersions(_ params: FileKeepVersionsParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't change how many versions of \(params.name.quoted) are kept")
        let catalog = try catalog
        let count = try catalog.change { changes in
            let entry = try catalog.files.requireOwnEntry(params.name, in: group)
            changes.note(ItemChange(.changed, entry))
            return try catalog.files.versions.setKeepCount(params.keepCount, of: entry)
        }
        return .done(Reply(CountResult(count: Int64(count))))
    }

    package func fileRestore(_ params: FileRestoreParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't restore a version of \(params.name.quoted)")
        return try settled(params.name, in: group, call) { [self] in
            let catalog = try catalog
            let info = try catalog.change { changes in
                let entry = try catalog.files.requireEntry(params.name, in: group)
                let now = wallClockMilliseconds()
                let inode = try catalog.files.versions.restore(params.number, of: entry, now: now)
                changes.note(ItemChange(.changed, file: params.name, in: group, inode: inode))
                return try fileInfo(params.name, in: group)
            }
            return .done(Reply(info))
        }
    }

    package func fileRemoveVersions(_ params: FileRemoveVersionsParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't remove versions of \(params.name.quoted)")
        let catalog = try catalog
        let count = try catalog.change(isRemoval: true) { changes in
            let entry = try catalog.files.requireEntry(params.name, in: group)
            changes.note(ItemChange(.changed, entry))
            return try catalog.files.versions.remove(params.number, of: entry)
        }
        return .done(Reply(CountResult(count: Int64(count))))
    }
}
