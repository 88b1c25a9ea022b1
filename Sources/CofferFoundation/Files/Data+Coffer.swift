internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferWire
public import Foundation

extension Data {
    /// Writes to a file of Coffer.
    ///
    /// - Parameters:
    ///   - url: The file; directories that it needs are made by the way.
    ///   - options: The protection, which the file has afterwards, also where it existed. Without one, a new file takes that of
    ///     its directory, and a file that exists keeps its own. With `atomic` a new file takes the place of the old one, and
    ///     the protection of the directory if none is named. `withoutOverwriting` refuses a file that exists.
    /// - Throws: `CocoaError`: `fileWriteNoPermission` where the state of the vault does not permit it.
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
                try client.call(FileRenameParameters(name: fresh, target: name, replaces: !isExclusive))
            } catch {
                _ = try? client.call(FileRemoveParameters(name: fresh)).value
                throw error
            }
        }
    }

    /// Reads a file of Coffer; the bytes lie where nobody wipes them.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - options: Hints, which make no difference here.
    /// - Throws: `CocoaError`: `fileReadNoPermission` where the state of the vault does not permit it.
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
    ///   - atomically: Whether a new file takes the place of the old one.
    ///   - encoding: The encoding.
    /// - Throws: `CocoaError`.
    public func write(to url: CofferURL, atomically: Bool, encoding: String.Encoding) throws {
        guard let data = data(using: encoding) else { throw CocoaError(.fileWriteInapplicableStringEncoding) }
        try data.write(to: url, options: atomically ? .atomic : [])
    }

    /// Reads a file of Coffer; the text lies where nobody wipes it.
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
    /// Gives a file other content, in one step as far as the daemon keeps it back.
    ///
    /// The class comes first: content never lies under a weaker one than was asked for.
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
    /// Reads in as many requests as it takes.
    ///
    /// - Parameters:
    ///   - offset: Where to begin, in bytes.
    ///   - count: The most bytes.
    func readData(at offset: Int64, _ count: Int) throws(CofferError) -> Data {
        var all = Data()
        while all.count < count {
            let wanted = Swift.min(count - all.count, Limits.framePayloadBytes)
            switch try read(at: offset + Int64(all.count), count: wanted) {
            case .some(let piece) where piece.count > 0: piece.withBytes { all.append(Data(exposing: $0)) }
            default: return all
            }
        }
        return all
    }

    /// Writes in as many requests as it takes.
    ///
    /// - Parameters:
    ///   - data: What is written.
    ///   - offset: Where to begin, in bytes.
    func writeData(_ data: Data, at offset: Int64) throws(CofferError) {
        var done = 0
        while done < data.count {
            let piece: SecretBytes? = try SecretBytes(data.dropFirst(done).prefix(Limits.framePayloadBytes))
            try write(piece, at: offset + Int64(done))
            done += piece.byteCount
        }
    }
}
