internal import CofferClient
internal import CofferCore
internal import CofferWire
internal import Glibc
internal import Synchronization

// Attributes of files.
extension Filesystem {
    /// Changes attributes.
    ///
    /// - Returns: The attributes after it, and how long the kernel may believe them.
    func setAttributes(of number: UInt64, _ change: AttributeChange) throws(Errno) -> RecentAnswers.Found {
        if let byteCount = change.byteCount {
            settle()
            try truncate(number, to: byteCount, isOpen: change.isByDescriptor)
        }
        guard change.changesMore else { return try found(number) }
        if let mode = change.mode, mode & (S_ISUID | S_ISGID) != 0 {
            (try? openFiles.file(number))?.mayHaveSpecialBits = true
        }
        if change.modified != nil { noteStatedTime(of: number) }
        if let file = try? openFiles.file(number), file.isWritten,
            let attributes = pending.add(change, of: number, to: recent.attributes(beforeChange: change, of: number))
        {
            recent.doubt(number)
            // Its time of change is that at which the daemon gets it: who looks at it asks again.
            return RecentAnswers.Found(attributes: attributes, validity: 0)
        }
        settle()
        return RecentAnswers.Found(attributes: try send(change, of: number), validity: validity)
    }

    /// Drops the bits of a mode by which a program would run with the rights of the owner, because the content or the owner
    /// changes: the kernel leaves that to the file system, and need not ask before each write whether there are any.
    ///
    /// As on other file systems, the bit of the group means something else if the group can't run the file.
    func dropSpecialBits(of number: UInt64) throws(Errno) {
        let file = try? openFiles.file(number)
        if let file, !file.mayHaveSpecialBits { return }
        let attributes = try found(number).attributes
        guard attributes.kind == .file else { return }
        let dropped = S_ISUID | (attributes.mode & S_IXGRP == 0 ? 0 : S_ISGID)
        if attributes.mode & dropped != 0 {
            var change = AttributeChange()
            change.mode = attributes.mode & ~dropped
            _ = try setAttributes(of: number, change)
        }
        file?.mayHaveSpecialBits = false
    }

    private func noteStatedTime(of number: UInt64) {
        closedFiles.noteStatedTime(of: number)
        (try? openFiles.file(number))?.noteStatedTime()
    }

    /// Sends the changes of attributes that wait, before something depends on them.
    ///
    /// - Returns: Why those of some files could not be changed.
    @discardableResult
    func settle() -> [UInt64: Errno] {
        var failures: [UInt64: Errno] = [:]
        pending.settle { number, change in
            do throws(Errno) {
                _ = try send(change, of: number)
            } catch {
                // Of a file that was removed meanwhile, there is nothing to be changed.
                if error.code == ENOENT || error.code == ESTALE { return }
                failures[number] = error
                try? openFiles.file(number).noteLoss("its attributes could not be changed")
            }
        }
        return failures
    }

    /// Sends the changes of the attributes of a file that wait, before something depends on them.
    ///
    /// - Returns: Why they could not be changed, if that is so.
    @discardableResult
    func settle(_ number: UInt64) -> Errno? { pending.attributes(of: number) == nil ? nil : settle()[number] }

    /// Sends changes of attributes that have waited for a moment, as long as the process runs.
    func settleLater() { pending.run { settle() } }

    private func send(_ change: AttributeChange, of number: UInt64) throws(Errno) -> Attributes {
        let name = try? name(of: number)
        if number == NodeTable.root && name == nil { throw .notPermitted }
        let ticket = recent.beginChange()
        do throws(Errno) {
            let file: FileInfo
            if let name {
                file = try call(change.params(name: name, group: group))
            } else {
                file = try openFiles.file(number).read { change.params(handle: $0) }.value
            }
            let attributes = Attributes(file)
            recent.changed(attributes, since: ticket)
            return attributes
        } catch {
            recent.forget()
            throw error
        }
    }
}

extension AttributeChange {
    fileprivate func params(
        name: ItemName? = nil,
        handle: Int64? = nil,
        group: String? = nil
    ) -> FileSetAttributesParameters {
        FileSetAttributesParameters(
            name: name,
            handle: handle,
            mode: mode.map { Int64($0) },
            uid: userID.map { Int64($0) },
            gid: groupID.map { Int64($0) },
            accessedNanoseconds: accessed,
            modifiedNanoseconds: modified,
            group: group
        )
    }
}
