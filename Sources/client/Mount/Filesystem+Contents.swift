internal import CFuse
internal import CofferClient
internal import CofferCore
internal import CofferWire
internal import Glibc
internal import Synchronization

// Contents of files.
extension Filesystem {
    /// How a program opens a file.
    struct OpenMode: Sendable {
        let isWriting: Bool
        let truncates: Bool
        let isExclusive: Bool

        /// - Parameter flags: The flags of open(2).
        init(flags: Int32) {
            isWriting = flags & O_ACCMODE != O_RDONLY
            truncates = flags & O_TRUNC != 0
            isExclusive = flags & O_EXCL != 0
        }
    }

    /// Opens a file that the kernel knows.
    ///
    /// - Returns: The number of this opening, and whether a program has it open already, so that what the kernel has
    ///   cached is current.
    func open(_ number: UInt64, _ mode: OpenMode) throws(Errno) -> (opening: UInt64, wasOpen: Bool) {
        guard let name = try name(of: number) else { throw Errno(EISDIR) }
        settle(number)
        let (file, wasOpen) = openFiles.pin(number) { makeOpenFile(number, on: pool.any) }
        let params = FileOpenParameters(
            name: name,
            access: mode.isWriting ? .readWrite : .read,
            isShared: mode.isWriting,
            group: group
        )
        let opening: UInt64
        do throws(Errno) {
            let opened = try file.open(isWriting: mode.isWriting, params)
            opening = opened.opening
            if !opened.isOpened { try checkReadable(name, file, opening, mode) }
        } catch {
            openFiles.unpin(number, isClosed: !wasOpen)
            throw error
        }
        guard mode.truncates && mode.isWriting else { return (opening, wasOpen) }
        do throws(Errno) {
            try truncate(file, to: 0)
        } catch {
            release(number, opening, mode)
            throw error
        }
        return (opening, wasOpen)
    }

    /// Checks that a file can be opened now, if its handle was opened by another program: a file of class
    /// `completeUnlessOpen` can be open, and not be opened again.
    private func checkReadable(
        _ name: ItemName,
        _ file: OpenFile,
        _ opening: UInt64,
        _ mode: OpenMode
    ) throws(Errno) {
        do throws(Errno) {
            guard try call(FileStatParameters(name: name, group: group)).isReadable else { throw Errno(EACCES) }
        } catch {
            _ = file.release(opening, wasWriting: mode.isWriting)
            throw error
        }
    }

    /// Creates a file and opens it, or opens the one that another client has created just now.
    ///
    /// - Returns: Its attributes, and the number of this opening.
    func create(
        _ name: FileName,
        in parent: UInt64,
        _ mode: OpenMode,
        _ birth: Birth
    ) throws(Errno) -> (attributes: Attributes, opening: UInt64) {
        for isLast in [false, true] {
            do throws(Errno) {
                return try createNew(name, in: parent, mode, birth)
            } catch {
                guard error.code == EEXIST, !mode.isExclusive else { throw error }
            }
            do throws(Errno) {
                let attributes = try lookUp(name, in: parent).attributes
                return (attributes, try open(attributes.number, mode).opening)
            } catch {
                // Another client has removed it again, or the name is that of a secret.
                guard error.code == ENOENT else { throw error }
                if isLast { break }
            }
        }
        throw Errno(EEXIST)
    }

    private func createNew(
        _ name: FileName,
        in parent: UInt64,
        _ mode: OpenMode,
        _ birth: Birth
    ) throws(Errno) -> (attributes: Attributes, opening: UInt64) {
        let path = try path(of: name, in: parent)
        let connection = pool.any
        let ticket = recent.beginChange()
        let reply: DaemonConnection.Reply<FileOpenResult>
        do throws(Errno) {
            reply = try changing { (isRepeated) throws(CallFailure) in
                // If the first request has made it and its answer was lost, it is there now.
                try connection.call(openParameters(creating: path, birth, isExclusive: !isRepeated))
            }
        } catch {
            recent.forget()
            throw error
        }
        guard let file = reply.value.file else {
            recent.forget()
            throw .readFailed
        }
        let attributes = learn(file, as: name, in: parent)
        recent.made(attributes, as: name, in: parent, since: ticket)
        let (opened, _) = openFiles.pin(attributes.number) { makeOpenFile(attributes.number, on: connection) }
        opened.mayHaveSpecialBits = attributes.mode & (S_ISUID | S_ISGID) != 0
        let opening = opened.adopt(reply.value.handle, reply.epoch, isWriting: mode.isWriting)
        return (attributes, opening)
    }

    private func openParameters(creating name: ItemName, _ birth: Birth, isExclusive: Bool) -> FileOpenParameters {
        FileOpenParameters(
            name: name,
            access: .readWrite,
            creates: true,
            isExclusive: isExclusive,
            isShared: true,
            mode: birth.mode,
            uid: birth.userID,
            gid: birth.groupID,
            group: group
        )
    }

    private func makeOpenFile(_ number: UInt64, on connection: DaemonConnection) -> OpenFile {
        OpenFile(number, on: connection, in: group, recordedIn: closedFiles) { [unowned self] () throws(Errno) in
            guard let name = try name(of: number) else { throw .stale }
            return name
        }
    }

    /// Closes a file for one program.
    func release(_ number: UInt64, _ opening: UInt64, _ mode: OpenMode) {
        settle(number)
        guard let file = try? openFiles.file(number) else { return }
        openFiles.unpin(number, isClosed: file.release(opening, wasWriting: mode.isWriting))
        if !openFiles.isOpen(number) { lanes.close(number) }
    }

    /// Reads a range.
    func read(_ number: UInt64, at offset: Int64, count: Int) throws(Errno) -> Secret {
        let file = try openFiles.file(number)
        guard offset >= 0, count >= 0 else { throw .invalid }
        if offset >= Limits.fileBytes { return try empty() }
        let read = { (handle: Int64) in
            FileReadParameters(handle: handle, offset: offset, length: Int64(min(count, Limits.framePayloadBytes)))
        }
        if let bytes = readBeside(file, read), bytes.count <= count { return bytes }
        let reply = try file.read(read)
        guard reply.payload.count <= count else { throw .readFailed }
        return reply.payload
    }

    /// Reads by another connection if that of the file waits for an answer.
    private func readBeside(_ file: OpenFile, _ read: (Int64) -> FileReadParameters) -> Secret? {
        guard file.isWaiting, let connection = pool.idle else { return nil }
        let open = { [self] () throws(Errno) in
            guard let name = try name(of: file.number) else { throw .stale }
            return FileOpenParameters(name: name, access: .read, group: group)
        }
        return lanes.read(file.number, on: connection, open: open, read)
    }

    private func empty() throws(Errno) -> Secret {
        do { return try Secret(copying: RawSpan()) } catch { throw Errno(error) }
    }

    /// Finds the first data, or the first hole, from an offset on.
    ///
    /// - Parameter whence: `SEEK_DATA` or `SEEK_HOLE`; the end of a file counts as a hole.
    /// - Throws: `ENXIO` if the offset is not in the file, or no data follows.
    func seek(_ number: UInt64, from offset: Int64, whence: Int32) throws(Errno) -> Int64 {
        guard whence == SEEK_DATA || whence == SEEK_HOLE else { throw .invalid }
        let file = try openFiles.file(number)
        // An offset that no file has is refused as the end of one is, unless a lock refuses it.
        let start = offset < 0 ? Limits.fileBytes : min(offset, Limits.fileBytes)
        var place = start
        while true {
            let extent = try file.read { FileExtentParameters(handle: $0, offset: place) }.value
            if extent.byteCount == 0 && (whence == SEEK_DATA || place == start) { throw .noSuchOffset }
            if extent.byteCount == 0 || extent.isHole == (whence == SEEK_HOLE) { return place }
            guard extent.byteCount <= Limits.fileBytes - place else { throw .readFailed }
            place += extent.byteCount
        }
    }

    /// Writes pages of mapped memory that a program has changed.
    ///
    /// - Throws: `EIO` if a lock has overtaken them: the kernel fails the next sync of each program with it.
    func writeBack(_ number: UInt64, at offset: Int64, _ bytes: RawSpan) throws(Errno) {
        do throws(Errno) {
            try write(number, at: offset, bytes)
        } catch  where error.code == EACCES {
            Journal.report(lossOf: number, "it was in mapped memory when the vault was locked")
            throw .readFailed
        }
    }

    /// Writes a range.
    func write(_ number: UInt64, at offset: Int64, _ bytes: RawSpan) throws(Errno) {
        let file = try openFiles.file(number)
        guard offset >= 0 else { throw .invalid }
        if Int64(bytes.byteCount) > Limits.fileBytes || offset > Limits.fileBytes - Int64(bytes.byteCount) {
            throw .tooLarge
        }
        // The time that was stated before is not that of this write.
        settle(number)
        var done = 0
        while done < bytes.byteCount {
            let range = done..<min(bytes.byteCount, done + Limits.framePayloadBytes)
            let payload: Secret
            do { payload = try Secret(copying: bytes.extracting(range)) } catch { throw Errno(error) }
            try file.write(payload: payload, byteCount: \.byteCount) {
                FileWriteParameters(handle: $0, offset: offset + Int64(range.lowerBound))
            }
            done = range.upperBound
        }
    }

    /// Reserves space, or makes a hole.
    ///
    /// - Parameter flags: Those of fallocate(2).
    func allocate(_ number: UInt64, at offset: Int64, count: Int64, flags: Int32) throws(Errno) {
        guard offset >= 0, count > 0 else { throw .invalid }
        let (end, isOver) = offset.addingReportingOverflow(count)
        if isOver { throw .tooLarge }
        let file = try openFiles.file(number)
        settle(number)
        let keepsSize = flags & FALLOC_FL_KEEP_SIZE != 0
        switch flags & ~FALLOC_FL_KEEP_SIZE {
        case 0:
            if end > Limits.fileBytes { throw .tooLarge }
            try file.write {
                FileAllocateParameters(handle: $0, offset: offset, length: count, keepsSize: keepsSize)
            }
        case FALLOC_FL_PUNCH_HOLE where keepsSize: try punch(file, offset..<min(end, max(offset, Limits.fileBytes)))
        default: throw .notSupported
        }
    }

    /// Makes a hole, step by step.
    private func punch(_ file: OpenFile, _ range: Range<Int64>) throws(Errno) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let done = try file.write {
                FilePunchParameters(handle: $0, offset: offset, length: range.upperBound - offset)
            }
            guard done.value.byteCount > 0 else { throw .readFailed }
            offset += min(done.value.byteCount, range.upperBound - offset)
        }
    }

    /// Waits until what was written to a file is on the disk.
    func sync(_ number: UInt64, _ opening: UInt64) throws(Errno) {
        settle()
        try openFiles.file(number).sync(opening)
        // If the daemon has ended meanwhile, another one has synced less than what was written.
        try checkClosed(number)
        closedFiles.remove(number)
    }

    /// Waits until the changes of the tree are on the disk.
    ///
    /// - Parameter includesClosedFiles: Whether contents of files that programs have closed are synced as well.
    func syncTree(includesClosedFiles: Bool = false) throws(Errno) {
        settle()
        _ = try call(FileSyncTreeParameters(includesClosedFiles: includesClosedFiles))
    }

    /// Reports what was lost, when a program closes a file.
    func flush(_ number: UInt64, _ opening: UInt64) throws(Errno) {
        if let failure = settle(number) { throw failure }
        try openFiles.file(number).checkLoss(of: opening)
    }

    /// Sets the size of a file.
    ///
    /// - Parameters:
    ///   - number: The file.
    ///   - byteCount: Its new size.
    ///   - isOpen: Whether the program has it open. If not, it needs what an opening needs, even if another program has it open.
    func truncate(_ number: UInt64, to byteCount: Int64, isOpen: Bool) throws(Errno) {
        guard byteCount >= 0 else { throw .invalid }
        if byteCount > Limits.fileBytes { throw .tooLarge }
        if isOpen, let file = try? openFiles.file(number), file.isWritten {
            return try truncate(file, to: byteCount)
        }
        let mode = OpenMode(flags: O_RDWR)
        let opening = try open(number, mode).opening
        defer { release(number, opening, mode) }
        try truncate(try openFiles.file(number), to: byteCount)
    }

    private func truncate(_ file: OpenFile, to byteCount: Int64) throws(Errno) {
        try file.write { FileTruncateParameters(handle: $0, byteCount: byteCount) }
    }
}
