internal import CofferCore
internal import CofferFiles
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire

// Attributes of files, by their names or their handles. They are metadata, which classes do not concern.

extension FileHandlers {
    /// What a request names, or has open.
    ///
    /// - Parameter isChanged: Whether it is to be changed: then what was stored before the first unlock, since the daemon
    ///   started, is found as well.
    func entry(
        _ name: ItemName?,
        _ handle: Int64?,
        in group: String,
        isChanged: Bool = false,
        _ call: Call
    ) throws -> FileEntry {
        if let name {
            call.isFor(isChanged ? "can't change \(name.quoted)" : "can't look for \(name.quoted)")
            let files = try catalog.files
            return try isChanged ? files.requireOwnEntry(name, in: group) : files.requireEntry(name, in: group)
        }
        let opened = try call.caller.handles[handle ?? 0]
        call.isFor("can't \(isChanged ? "change" : "look for") \(opened.file.subject)")
        guard let store = opened.store, openCatalog?.files === store else { throw CofferError.vaultIsGone }
        return try store.openFiles.entry(of: opened.file)
    }

    package func fileSetAttributes(_ params: FileSetAttributesParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        let change = AttributeChange(
            ownership: Ownership(mode: params.mode, uid: params.uid, gid: params.gid),
            accessed: params.accessedNanoseconds,
            modified: params.modifiedNanoseconds
        )
        let entry = try entry(params.name, params.handle, in: group, isChanged: true, call)
        let catalog = try catalog
        let changed = try catalog.change(entry) { files in
            try files.setAttributes(of: entry, to: change, now: wallClockNanoseconds())
        }
        return .done(Reply(try FileInfo(changed, catalog.files, in: try keys.state)))
    }

    package func fileSetExtendedAttribute(
        _ params: FileSetExtendedAttributeParameters,
        _ call: Call
    ) throws -> Step {
        let payload = try call.attachments.takePayload().orEmpty()
        guard payload.count <= Limits.extendedAttributeBytes else { throw CofferError.attributeTooLarge }
        let value = payload.exposeBytes()
        let group = try call.group(params.group)
        let write: AttributeWrite = params.creates ? .creates : params.replaces ? .replaces : .any
        let entry = try entry(params.name, params.handle, in: group, isChanged: true, call)
        let catalog = try catalog
        try catalog.change(entry) { files in
            let now = wallClockNanoseconds()
            let changed = try files.setExtendedAttribute(params.attribute, to: value, of: entry, write, now: now)
            catalog.noteExpiry(of: changed.metadata.extended)
            return changed
        }
        return .done
    }

    package func fileRemoveExtendedAttribute(
        _ params: FileRemoveExtendedAttributeParameters,
        _ call: Call
    ) throws -> Step {
        let group = try call.group(params.group)
        let entry = try entry(params.name, params.handle, in: group, isChanged: true, call)
        try catalog.change(entry) { files in
            try files.removeExtendedAttribute(params.attribute, of: entry, now: wallClockNanoseconds())
        }
        return .done
    }

    package func fileGetExtendedAttribute(
        _ params: FileGetExtendedAttributeParameters,
        _ call: Call
    ) throws -> Step {
        let group = try call.group(params.group)
        let entry = try entry(params.name, params.handle, in: group, call)
        let value = try catalog.files.extendedAttribute(params.attribute, of: entry)
        let payload = try unsafe SecretBytes(copying: value.span.bytes)
        let result = FileByteCount(byteCount: Int64(value.count))
        // Like the names, it is there from the first unlock on.
        return .done(Reply(result, payload: payload, protection: .file(.completeUntilFirstUserAuthentication)))
    }

    package func fileListExtendedAttributes(
        _ params: FileListExtendedAttributesParameters,
        _ call: Call
    ) throws -> Step {
        let group = try call.group(params.group)
        let attributes = try entry(params.name, params.handle, in: group, call).metadata.extended.all.map {
            ExtendedAttributeInfo(name: $0.name, byteCount: Int64($0.value.count))
        }
        return .done(Reply(ExtendedAttributeList(attributes: attributes)))
    }

    package func fileSpace(_ params: FileSpaceParameters, _ call: Call) throws -> Step {
        let catalog = try catalog
        let space = try catalog.files.space()
        return .done(
            Reply(
                FileSpace(
                    totalByteCount: space.totalByteCount,
                    freeByteCount: space.freeByteCount,
                    availableByteCount: space.availableByteCount,
                    fileCount: Int64(try catalog.files.count())
                )
            )
        )
    }
}

extension Catalog {
    /// Changes the attributes of an entry.
    @discardableResult
    fileprivate func change(_ entry: FileEntry, _ body: (FileStore) throws -> FileEntry) throws -> FileEntry {
        try change { changes in
            let changed = try body(files)
            changes.note(ItemChange(.changed, changed))
            return changed
        }
    }
}

extension CofferError {
    fileprivate static let attributeTooLarge = CofferError(
        .dataTooLarge,
        "the value of an extended attribute has at most \(Limits.extendedAttributeBytes) bytes",
        hint: "a file holds more"
    )
}
