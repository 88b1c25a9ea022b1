internal import CofferClient
internal import CofferCore
internal import CofferWire
public import Foundation

extension Data {
    /// Writes to a file of Coffer.
    ///
    /// - Parameters:
    ///   - url: The file; missing parent directories are created.
    ///   - options: The protection, which an existing file gets as well. Without one, a new file takes that
    ///     of its directory, and an existing file keeps its own. With `atomic`, a new file replaces the old
    ///     one, with the protection of the directory, or that of the old file if it is stricter.
    ///     `withoutOverwriting` refuses an existing file.
    /// - Throws: `CocoaError`: `fileWriteNoPermission` if the state of the vault does not permit it.
    public func write(to url: CofferURL, options: Data.WritingOptions = []) throws {
        try url.perform(.writing) { (client, name) throws(CofferError) in
            let protectionClass = try options.protectionClass
            let isExclusive = options.contains(.withoutOverwriting)
            guard options.contains(.atomic) else {
                let how: FileOpenOptions = isExclusive ? [.create, .exclusive] : .create
                return try client.write(self, to: name, how, protectionClass)
            }
            let fresh = try name.sibling()
            do throws(CofferError) {
                try client.write(self, to: fresh, [.create, .exclusive], protectionClass)
                let params = FileRenameParameters(
                    name: fresh,
                    target: name,
                    replaces: !isExclusive,
                    keepsClass: protectionClass != nil
                )
                try client.call(params)
            } catch {
                _ = try? client.call(FileRemoveParameters(name: fresh)).value
                throw error
            }
        }
    }

    /// Reads a file of Coffer into ordinary memory, which is not wiped.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - options: Ignored.
    /// - Throws: `CocoaError`: `fileReadNoPermission` if the state of the vault does not permit it.
    public init(contentsOf url: CofferURL, options: Data.ReadingOptions = []) throws {
        self = try url.perform(.reading) { (client, name) throws(CofferError) in
            let file = try client.openFile(name)
            let data = try file.readData(at: 0, .max)
            try file.close()
            return data
        }
    }
}

extension String {
    /// Writes to a file of Coffer.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - atomically: Whether a new file replaces the old one.
    ///   - encoding: The encoding.
    /// - Throws: `CocoaError`.
    public func write(to url: CofferURL, atomically: Bool, encoding: String.Encoding) throws {
        guard let data = data(using: encoding) else { throw CocoaError(.fileWriteInapplicableStringEncoding) }
        try data.write(to: url, options: atomically ? .atomic : [])
    }

    /// Reads a file of Coffer into ordinary memory, which is not wiped.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - encoding: The encoding.
    /// - Throws: `CocoaError`.
    public init(contentsOf url: CofferURL, encoding: String.Encoding) throws {
        guard let text = String(data: try Data(contentsOf: url), encoding: encoding) else {
            throw CocoaError(.fileReadInapplicableStringEncoding)
        }
        self = text
    }
}

extension ItemName {
    /// A new name in the same directory.
    fileprivate func sibling() throws(CofferError) -> ItemName {
        let parents = components.dropLast().map { "\($0)/" }.joined()
        return try ItemName("\(parents).\(ItemID().hexadecimal)")
    }
}

extension BlockingClient {
    /// Replaces the content of a file, in one step as far as the daemon buffers it.
    ///
    /// The class is set first: content is never stored under a weaker class than requested.
    fileprivate func write(
        _ data: Data,
        to name: ItemName,
        _ how: FileOpenOptions,
        _ protectionClass: ProtectionClass?
    ) throws(CofferError) {
        let file = try openFile(name, for: .write, how, protectionClass: protectionClass)
        if let protectionClass, protectionClass != file.protectionClass {
            try call(FileProtectParameters(name, protectionClass))
        }
        if !file.isNew { try file.truncate(to: 0) }
        try file.writeData(data, at: 0)
        try file.close()
    }
}

extension OpenedFile {
    /// Reads a range with as many requests as necessary.
    ///
    /// - Parameters:
    ///   - offset: The first byte.
    ///   - count: The maximum number of bytes.
    func readData(at offset: Int64, _ count: Int) throws(CofferError) -> Data {
        var all = Data()
        while all.count < count {
            let wanted = Swift.min(count - all.count, Limits.framePayloadBytes)
            let piece = try read(at: offset + Int64(all.count), count: wanted)
            if piece.count == 0 { break }
            all.append(Data(exposing: piece))
        }
        return all
    }

    /// Writes a range with as many requests as necessary.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - offset: The first byte.
    func writeData(_ data: Data, at offset: Int64) throws(CofferError) {
        var done = 0
        while done < data.count {
            let piece = try data.dropFirst(done).prefix(Limits.framePayloadBytes).secret
            try write(piece, at: offset + Int64(done))
            done += piece.count
        }
    }
}
