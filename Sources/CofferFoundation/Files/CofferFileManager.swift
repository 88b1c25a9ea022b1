internal import CofferClient
internal import CofferCore
internal import CofferWire
public import Foundation

/// The files and directories of Coffer, by the names of Foundation's `FileManager`.
///
/// A path is one in Coffer's file store. What is not here does not compile, so that nothing falls through to files that
/// nobody protects. A program that is ported says `typealias FileManager = CofferFileManager` once.
public final class CofferFileManager: Sendable {
    /// A directory of a program.
    public typealias SearchPathDirectory = FileManager.SearchPathDirectory
    /// Whose directories are meant.
    public typealias SearchPathDomainMask = FileManager.SearchPathDomainMask
    /// What an enumeration leaves out.
    public typealias DirectoryEnumerationOptions = FileManager.DirectoryEnumerationOptions

    /// The one there is.
    public static let `default` = CofferFileManager()

    private init() {}

    // MARK: Places

    /// The directory of this program that files of a kind belong into: it is made if it is not there.
    ///
    /// - Parameters:
    ///   - directory: `documentDirectory`, `libraryDirectory`, `applicationSupportDirectory` or `cachesDirectory`.
    ///   - domain: `userDomainMask`.
    /// - Returns: One place; none for other kinds and domains.
    public func urls(for directory: SearchPathDirectory, in domain: SearchPathDomainMask) -> [CofferURL] {
        guard domain.contains(.userDomainMask), let place = Self.place(of: directory) else { return [] }
        // Where that fails, whoever uses the place is told.
        try? createDirectory(at: place, withIntermediateDirectories: true)
        return [place]
    }

    /// The directory of this program that files of a kind belong into.
    ///
    /// - Parameters:
    ///   - directory: `documentDirectory`, `libraryDirectory`, `applicationSupportDirectory` or `cachesDirectory`.
    ///   - domain: `userDomainMask`.
    ///   - url: Nothing.
    ///   - shouldCreate: Whether it is made.
    /// - Throws: `CocoaError`: `featureUnsupported` for other kinds and domains.
    public func url(
        for directory: SearchPathDirectory,
        in domain: SearchPathDomainMask,
        appropriateFor url: CofferURL?,
        create shouldCreate: Bool
    ) throws -> CofferURL {
        guard domain.contains(.userDomainMask), url == nil, let place = Self.place(of: directory) else {
            throw CocoaError(unsupported: "find that directory", at: "/")
        }
        if shouldCreate { try createDirectory(at: place, withIntermediateDirectories: true) }
        return place
    }

    /// A directory of this program for files that nobody misses.
    public var temporaryDirectory: CofferURL { Self.container.appendingPathComponent("tmp") }

    /// The directory of an iCloud container: there is none, as on a device without iCloud.
    ///
    /// - Parameter identifier: The container.
    /// - Returns: `nil`.
    public func url(forUbiquityContainerIdentifier identifier: String?) -> CofferURL? { nil }

    private static var container: CofferURL { CofferURL(fileURLWithPath: CofferDaemon.shared.container) }

    private static func place(of directory: SearchPathDirectory) -> CofferURL? {
        switch directory {
        case .documentDirectory: container.appendingPathComponent("Documents")
        case .libraryDirectory: container.appendingPathComponent("Library")
        case .applicationSupportDirectory: container.appendingPathComponent("Library/Application Support")
        case .cachesDirectory: container.appendingPathComponent("Library/Caches")
        default: nil
        }
    }

    // MARK: Making and removing

    /// Makes a file, or gives one that exists other content.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - data: Its content; nothing if none is given.
    ///   - attributes: Its protection; with any other attribute, nothing is made.
    /// - Returns: Whether it was made.
    @discardableResult
    public func createFile(
        atPath path: String,
        contents data: Data?,
        attributes: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        do {
            let protectionClass = try Self.protectionClass(in: attributes ?? [:], at: path)
            let options = protectionClass.map { Data.WritingOptions($0) } ?? []
            try (data ?? Data()).write(to: CofferURL(fileURLWithPath: path), options: options)
            return true
        } catch {
            return false
        }
    }

    /// Makes a directory.
    ///
    /// - Parameters:
    ///   - url: Its place.
    ///   - createIntermediates: Whether the directories that it lies in are made as well, and one that is there will do.
    ///   - attributes: The protection of new files in it.
    /// - Throws: `CocoaError`: `featureUnsupported` for another attribute.
    public func createDirectory(
        at url: CofferURL,
        withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        let protectionClass = try Self.protectionClass(in: attributes ?? [:], at: url.path)
        try url.perform(.writing) { (client, name) throws(CofferError) in
            do throws(CofferError) {
                let params = FileMkdirParameters(
                    name: name,
                    protectionClass: protectionClass,
                    makesParents: createIntermediates
                )
                try client.call(params)
            } catch {
                guard let protectionClass, createIntermediates, error.code == .duplicateItem else { throw error }
                // A directory of another class will do as well, and gets this one; a file is still in the way.
                try client.call(FileMkdirParameters(name: name, makesParents: true))
                try client.call(FileProtectParameters(name, protectionClass, .newFiles))
            }
        }
    }

    /// Makes a directory.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - createIntermediates: Whether the directories that it lies in are made as well, and one that is there will do.
    ///   - attributes: The protection of new files in it.
    /// - Throws: `CocoaError`: `featureUnsupported` for another attribute.
    public func createDirectory(
        atPath path: String,
        withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        try createDirectory(
            at: CofferURL(fileURLWithPath: path),
            withIntermediateDirectories: createIntermediates,
            attributes: attributes
        )
    }

    /// Removes a file, or a directory with all that is in it, in every state of the vault.
    ///
    /// - Parameter url: Its place.
    /// - Throws: `CocoaError`.
    public func removeItem(at url: CofferURL) throws {
        try url.perform(.writing) { (client, name) throws(CofferError) in
            _ = try client.call(FileRemoveParameters(name: name, isRecursive: true))
        }
    }

    /// Removes a file, or a directory with all that is in it, in every state of the vault.
    ///
    /// - Parameter path: Its path.
    /// - Throws: `CocoaError`.
    public func removeItem(atPath path: String) throws { try removeItem(at: CofferURL(fileURLWithPath: path)) }

    /// Gives a file or a directory another name, in every state of the vault; its protection goes along.
    ///
    /// - Parameters:
    ///   - source: Its place.
    ///   - destination: The place that it is to have.
    /// - Throws: `CocoaError`: `fileWriteFileExists` where something is there.
    public func moveItem(at source: CofferURL, to destination: CofferURL) throws {
        try source.perform(.writing) { (client, name) throws(CofferError) in
            _ = try client.call(FileRenameParameters(name: name, target: try destination.itemName))
        }
    }

    /// Gives a file or a directory another name, in every state of the vault; its protection goes along.
    ///
    /// - Parameters:
    ///   - source: Its path.
    ///   - destination: The path that it is to have.
    /// - Throws: `CocoaError`: `fileWriteFileExists` where something is there.
    public func moveItem(atPath source: String, toPath destination: String) throws {
        try moveItem(at: CofferURL(fileURLWithPath: source), to: CofferURL(fileURLWithPath: destination))
    }

    // MARK: Attributes

    /// What there is to know of a file or a directory, in every state of the vault.
    ///
    /// - Parameter path: Its path.
    /// - Returns: `type`, `size`, `creationDate`, `modificationDate`, and `protectionKey`: a `FileProtectionType`; of a directory
    ///   that of new files in it, and nothing where it leaves that to those around it.
    /// - Throws: `CocoaError`: `fileReadNoSuchFile`.
    public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        let url = CofferURL(fileURLWithPath: path)
        if url.isRoot { return [.type: FileAttributeType.typeDirectory] }
        let info = try url.perform(.reading) { (client, name) throws(CofferError) in
            try client.call(FileStatParameters(name: name)).value
        }
        var attributes: [FileAttributeKey: Any] = [
            .type: info.isDirectory ? FileAttributeType.typeDirectory : .typeRegular,
            .size: NSNumber(value: info.byteCount), .creationDate: Date(milliseconds: info.created),
            .modificationDate: Date(milliseconds: info.modified),
        ]
        attributes[.protectionKey] = info.protectionClass.map { FileProtectionType($0) }
        return attributes
    }

    /// Changes the protection of a file, or that of the new files in a directory.
    ///
    /// - Parameters:
    ///   - attributes: The protection; every other attribute is refused.
    ///   - path: Its path.
    /// - Throws: `CocoaError`: `fileWriteNoPermission` where a key is not there that the change wants; `featureUnsupported`.
    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        guard let protectionClass = try Self.protectionClass(in: attributes, at: path) else { return }
        try CofferURL(fileURLWithPath: path).perform(.writing) { (client, name) throws(CofferError) in
            let isDirectory = try client.call(FileStatParameters(name: name)).value.isDirectory
            try client.call(FileProtectParameters(name, protectionClass, isDirectory ? .newFiles : .file))
        }
    }

    /// The class that attributes name.
    private static func protectionClass(
        in attributes: [FileAttributeKey: Any],
        at path: String
    ) throws -> ProtectionClass? {
        for key in attributes.keys where key != .protectionKey {
            throw CocoaError(unsupported: "set \(quotedForDisplay(key.rawValue))", at: path)
        }
        guard let value = attributes[.protectionKey] else { return nil }
        guard let type = value as? FileProtectionType else {
            throw CocoaError(unsupported: "set a protection that is no FileProtectionType", at: path)
        }
        do { return try type.protectionClass } catch { throw CocoaError(error, .writing, at: path) }
    }

    // MARK: Looking

    /// Whether there is a file or a directory; false where the daemon can't be reached.
    ///
    /// - Parameter path: Its path.
    public func fileExists(atPath path: String) -> Bool { (try? attributesOfItem(atPath: path)) != nil }

    /// Whether there is a file or a directory; false where the daemon can't be reached.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - isDirectory: Told which of the two it is.
    public func fileExists(atPath path: String, isDirectory: UnsafeMutablePointer<ObjCBool>?) -> Bool {
        guard let attributes = try? attributesOfItem(atPath: path) else { return false }
        unsafe isDirectory?.pointee = ObjCBool(attributes[.type] as? FileAttributeType == .typeDirectory)
        return true
    }

    /// Whether a file can be read in the present state of the vault; a directory always can.
    ///
    /// - Parameter path: Its path.
    public func isReadableFile(atPath path: String) -> Bool {
        let url = CofferURL(fileURLWithPath: path)
        return
            (try? url.perform(.reading) { (client, name) throws(CofferError) in
                try client.call(FileStatParameters(name: name)).value.isReadable
            })
            ?? url.isRoot
    }

    /// The content of a file.
    ///
    /// - Parameter path: Its path.
    /// - Returns: `nil` where it can't be read; `Data(contentsOf:)` says why.
    public func contents(atPath path: String) -> Data? { try? Data(contentsOf: CofferURL(fileURLWithPath: path)) }

    /// The names in a directory.
    ///
    /// - Parameter path: Its path.
    /// - Throws: `CocoaError`.
    public func contentsOfDirectory(atPath path: String) throws -> [String] {
        try entries(of: CofferURL(fileURLWithPath: path), .skipsSubdirectoryDescendants).map(\.lastPathComponent)
    }

    /// What is in a directory.
    ///
    /// - Parameters:
    ///   - url: Its place.
    ///   - keys: Values that will be asked for, which makes no difference here.
    ///   - mask: `skipsHiddenFiles` leaves out what begins with a dot.
    /// - Throws: `CocoaError`.
    public func contentsOfDirectory(
        at url: CofferURL,
        includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [CofferURL] {
        try entries(of: url, mask.union(.skipsSubdirectoryDescendants))
    }

    /// What is in a directory and in those below, as it is now.
    ///
    /// - Parameters:
    ///   - url: Its place.
    ///   - keys: Values that will be asked for, which makes no difference here.
    ///   - mask: `skipsHiddenFiles` leaves out what begins with a dot and what is below; `skipsSubdirectoryDescendants` what is
    ///     in the directories below.
    ///   - handler: Told why it can't be listed.
    /// - Returns: `nil` where it can't be listed.
    public func enumerator(
        at url: CofferURL,
        includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = [],
        errorHandler handler: ((CofferURL, any Error) -> Bool)? = nil
    ) -> CofferDirectoryEnumerator? {
        do {
            return CofferDirectoryEnumerator(try entries(of: url, mask))
        } catch {
            _ = handler?(url, error)
            return nil
        }
    }

    private func entries(of url: CofferURL, _ options: DirectoryEnumerationOptions) throws -> [CofferURL] {
        guard options.subtracting([.skipsHiddenFiles, .skipsSubdirectoryDescendants]).isEmpty else {
            throw CocoaError(unsupported: "list a directory with such options", at: url.path)
        }
        let isRecursive = !options.contains(.skipsSubdirectoryDescendants)
        do throws(CofferError) {
            let name = url.isRoot ? nil : try url.itemName
            let found = try CofferDaemon.shared.perform { (client) throws(CofferError) in
                var found: [String] = []
                var cursor: String?
                repeat {
                    let page = try client.call(
                        FileListParameters(name: name, isRecursive: isRecursive, cursor: cursor)
                    ).value
                    found += page.entries.map(\.name)
                    cursor = page.cursor
                } while cursor != nil
                found.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                return found.map { CofferURL(fileURLWithPath: $0) }
            }
            return options.contains(.skipsHiddenFiles) ? found.filter { !$0.isHidden(below: url) } : found
        } catch {
            throw CocoaError(error, .reading, at: url.path)
        }
    }
}

/// The places in a directory and in those below, one after the other.
public final class CofferDirectoryEnumerator: Sequence, IteratorProtocol {
    private var rest: ArraySlice<CofferURL>

    init(_ entries: [CofferURL]) { rest = entries[...] }

    /// The next one: a ``CofferURL``.
    public func next() -> Any? { rest.popFirst() }
}

extension Date {
    /// A time of Coffer.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
