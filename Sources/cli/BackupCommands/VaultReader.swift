internal import CofferBackup
internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import Glibc

/// Reads what a backup reads of a vault, as the files of a state directory, in the order of their paths.
struct VaultReader {
    let client: BlockingClient
    let sizes: BackupSizes
    /// Called with the bytes so far.
    let progress: (Int64) -> Void

    /// Adds all files to a snapshot.
    ///
    /// - Parameter writer: The snapshot.
    func add(to writer: SnapshotWriter) throws(CofferError) {
        if let count = sizes.anchorByteCount { try add("anchor", as: "anchor", count, to: writer) }
        var after: ItemID?
        repeat {
            let page = try client.call(BackupContentsParameters(after: after)).value
            for content in page.contents { try add(content, to: writer) }
            after = page.next
        } while after != nil
        try add("keybag", as: "keybag", sizes.keybagByteCount, to: writer)
        try add("catalog", as: "vault.sqlite", sizes.catalogByteCount, to: writer)
    }

    private func add(_ part: String, as path: String, _ count: Int64, to writer: SnapshotWriter) throws(CofferError) {
        let file = SnapshotFile(path: path, byteCount: count, isImmutable: false)
        try writer.add(file) { () throws(CofferError) in try client.backupPart(part) }
        progress(writer.byteCount)
    }

    private func add(_ content: BackupContent, to writer: SnapshotWriter) throws(CofferError) {
        let id = content.id.hexadecimal
        let path = "blobs/\(id.prefix(2))/\(id)"
        if let count = content.byteCount {
            let file = SnapshotFile(path: path, byteCount: count, isImmutable: true)
            try writer.add(file) { () throws(CofferError) in try client.backupPart(id) }
        }
        if content.overlayByteCount != nil { try addOverlay("\(id).overlay", as: "\(path).overlay", to: writer) }
        progress(writer.byteCount)
    }

    /// Adds an overlay as long as it is now: what is written behind that end is not part of the backup.
    private func addOverlay(_ part: String, as path: String, to writer: SnapshotWriter) throws(CofferError) {
        let overlay = try client.backupPart(part)
        let count: Int64
        do throws(SystemError) { count = Int64(try overlay.status().st_size) } catch {
            throw error.cofferError("can't read \(part)")
        }
        let file = SnapshotFile(
            path: path,
            byteCount: count,
            isImmutable: false,
            identity: try FileIdentity(of: overlay)
        )
        try writer.add(file) { () throws(CofferError) in try client.backupPart(part) }
    }
}
