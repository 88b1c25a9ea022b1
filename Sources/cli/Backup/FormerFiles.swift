internal import CofferCore

/// The files of the snapshot before, which are taken over if they have not changed.
struct FormerFiles {
    /// The snapshot; `nil` for none.
    let snapshot: SnapshotReference?
    let list: FileListReader?
    /// The files that were not passed yet: they are looked up in their order.
    private var rest: FileListReader?

    init(_ snapshot: Snapshot?, _ reader: ChunkReader) {
        self.snapshot = snapshot?.reference
        list = snapshot.map { FileListReader($0.listIDs, reader) }
        rest = list
    }

    /// Begins with the first file again.
    mutating func rewind() { rest = list }

    /// The entry of an unchanged file, if the repository still has it.
    mutating func entry(of file: SnapshotFile, keptIn store: ChunkStore) -> FileEntry? {
        let found: FileEntry?
        do throws(CofferError) {
            found = try rest?.file(at: file.path)
        } catch {
            // Its list is lost, so all files are read.
            rest = nil
            return nil
        }
        guard let found, found.byteCount == file.byteCount, found.isImmutable == file.isImmutable else { return nil }
        let isSame = file.isImmutable || file.identity.map { $0.isKnown && $0 == found.identity } ?? false
        return isSame && found.chunks.allSatisfy(store.has) ? found : nil
    }
}
