internal import CofferClient
internal import CofferCore
internal import CofferWire
public import Foundation

extension CofferFileManager {
    /// How a replacement treats the item that was there.
    public typealias ItemReplacementOptions = FileManager.ItemReplacementOptions

    /// Copies a file, or a directory with everything in it.
    ///
    /// A copy is a new file: it takes the protection of its directory, or that of the original if that is stricter.
    /// Content passes through locked memory only.
    ///
    /// - Parameters:
    ///   - source: The file or the directory.
    ///   - destination: Its copy. If copying fails, what was copied to a directory stays.
    /// - Throws: `CocoaError`: `fileWriteFileExists` if the destination exists.
    public func copyItem(at source: CofferURL, to destination: CofferURL) throws {
        guard try attributesOfItem(atPath: source.path)[.type] as? FileAttributeType == .typeDirectory else {
            return try copyFile(at: source, to: destination)
        }
        if "\(destination.path)/".utf8.starts(with: "\(source.path)/".utf8) {
            throw CocoaError(unsupported: "copy a directory into itself", at: source.path)
        }
        let entries = try contentsOfDirectory(at: source, includingPropertiesForKeys: nil)
        try destination.perform(.writing) { (client, name) throws(CofferError) in
            let original = try client.call(FileStatParameters(name: try source.itemName)).value
            try client.call(FileMkdirParameters(name: name, leastClass: original.protectionClass))
        }
        for entry in entries {
            try copyItem(at: entry, to: destination.appendingPathComponent(entry.lastPathComponent))
        }
    }

    /// Copies a file, or a directory with everything in it.
    ///
    /// - Parameters:
    ///   - source: The path.
    ///   - destination: The path of the copy.
    /// - Throws: As ``copyItem(at:to:)``.
    public func copyItem(atPath source: String, toPath destination: String) throws {
        try copyItem(at: CofferURL(fileURLWithPath: source), to: CofferURL(fileURLWithPath: destination))
    }

    private func copyFile(at source: CofferURL, to destination: CofferURL) throws {
        try source.perform(.reading) { (client, name) throws(CofferError) in
            let target = try destination.itemName
            let original = try client.openFile(name)
            let copy = try client.createCopy(target, of: original)
            do throws(CofferError) {
                var offset: Int64 = 0
                while true {
                    let piece = try original.read(at: offset, count: Limits.framePayloadBytes)
                    if piece.count == 0 { break }
                    try copy.write(piece, at: offset)
                    offset += Int64(piece.count)
                }
                try copy.close()
            } catch {
                _ = try? client.call(FileRemoveParameters(name: target)).value
                throw error
            }
        }
    }

    /// Replaces an item by another one, in one step.
    ///
    /// - Parameters:
    ///   - originalItemURL: The item to replace.
    ///   - newItemURL: The item that takes its place.
    ///   - backupItemName: The name that the replaced item gets beside it, with `withoutDeletingBackupItem`.
    ///   - options: `usingNewMetadataOnly`: the new item keeps its own protection; otherwise it gets that of the item
    ///     that it replaces, first, unless its own is stricter.
    /// - Returns: `originalItemURL`.
    /// - Throws: `CocoaError`. The item is in its place then.
    @discardableResult
    public func replaceItemAt(
        _ originalItemURL: CofferURL,
        withItemAt newItemURL: CofferURL,
        backupItemName: String? = nil,
        options: ItemReplacementOptions = []
    ) throws -> CofferURL? {
        let attributes = try attributesOfItem(atPath: originalItemURL.path)
        let keepsClass = options.contains(.usingNewMetadataOnly)
        if !keepsClass, let protection = Self.protectionClass(attributes) {
            let own = Self.protectionClass(try attributesOfItem(atPath: newItemURL.path))
            let stricter = FileProtectionType(protection.stricter(own))
            try setAttributes([.protectionKey: stricter], ofItemAtPath: newItemURL.path)
        }
        var backup: CofferURL?
        if options.contains(.withoutDeletingBackupItem), let backupItemName {
            let place = originalItemURL.deletingLastPathComponent().appendingPathComponent(backupItemName)
            try moveItem(at: originalItemURL, to: place)
            backup = place
        }
        do {
            try newItemURL.perform(.writing) { (client, name) throws(CofferError) in
                let target = try originalItemURL.itemName
                let params = FileRenameParameters(
                    name: name,
                    target: target,
                    replaces: true,
                    keepsClass: keepsClass
                )
                _ = try client.call(params)
            }
        } catch {
            if let backup { try moveItem(at: backup, to: originalItemURL) }
            throw error
        }
        return originalItemURL
    }

    private static func protectionClass(_ attributes: [FileAttributeKey: Any]) -> ProtectionClass? {
        try? (attributes[.protectionKey] as? FileProtectionType)?.protectionClass
    }
}
