package import CofferClient
import CofferCore
import CofferSystem
package import CofferWire
import Foundation

/// What a backup reads of a vault, in a directory of its own, as on another machine.
package struct VaultCopy {
    /// The directory, with the copy of the state directory in `state`.
    package let directory: TemporaryDirectory
    package let sizes: BackupSizes
    package let contents: [BackupContent]

    /// Copies a vault whose backup was begun, with requests of that connection.
    ///
    /// - Parameters:
    ///   - client: The connection.
    ///   - sizes: What `backup.begin` has answered.
    package init(by client: BlockingClient, _ sizes: BackupSizes) throws {
        self.sizes = sizes
        directory = try TemporaryDirectory()
        let state = directory.appending("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        chmod(state, 0o700)
        var contents: [BackupContent] = []
        var after: ItemID?
        repeat {
            let page = try client.call(BackupContentsParameters(after: after)).value
            contents += page.contents
            after = page.next
        } while after != nil
        self.contents = contents
        func copy(_ part: String, to name: String) throws {
            let path = "\(state)/\(name)"
            let folder = URL(filePath: path).deletingLastPathComponent().path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            chmod(folder, 0o700)
            let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw POSIXError(.EIO) }
            defer { close(file) }
            let source = try client.backupPart(part)
            var offset: Int64 = 0
            while true {
                let bytes = try source.bytes(1 << 20, at: offset)
                if bytes.isEmpty { break }
                try bytes.withUnsafeBytes { buffer in
                    guard pwrite(file, buffer.baseAddress, buffer.count, off_t(offset)) == buffer.count else {
                        throw POSIXError(.EIO)
                    }
                }
                offset += Int64(bytes.count)
            }
        }
        try copy("keybag", to: "keybag")
        if sizes.anchorByteCount != nil { try copy("anchor", to: "anchor") }
        try copy("catalog", to: "vault.sqlite")
        for content in contents {
            let id = content.id.hexadecimal
            if content.byteCount != nil { try copy(id, to: "blobs/\(id.prefix(2))/\(id)") }
            if content.overlayByteCount != nil { try copy("\(id).overlay", to: "blobs/\(id.prefix(2))/\(id).overlay") }
        }
    }
}
