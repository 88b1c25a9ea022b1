internal import CofferClient
internal import CofferCore
internal import CofferWire
public import Foundation

/// The files and directories of Coffer, with the methods of Foundation's `FileManager`.
///
/// Paths are paths in Coffer's file store. Other methods do not compile, so that no call reaches unprotected
/// files. Ported code declares `typealias FileManager = CofferFileManager` once.
public final class CofferFileManager: Sendable {
    /// A standard directory of a program.
    public typealias SearchPathDirectory = FileManager.SearchPathDirectory
    /// The domain of a standard directory.
    public typealias SearchPathDomainMask = FileManager.SearchPathDomainMask
    /// What an enumeration skips.
    public typealias DirectoryEnumerationOptions = FileManager.DirectoryEnumerationOptions

    /// The only instance.
    public static let `default` = CofferFileManager()

    private init() {}

    // MARK: Places

    /// The standard directory of this program, which is created if it does not exist.
    ///
    /// - Parameters:
    ///   - directory: `documentDirectory`, `libraryDirectory`, `applicationSupportDirectory` or
    ///     `cachesDirectory`.
    ///   - domain: `userDomainMask`.
    /// - Returns: One directory; none for other directories and domains.
    public func urls(for directory: SearchPathDirectory, in domain: SearchPathDomainMask) -> [CofferURL] {
        guard domain.contains(.userDomainMask), let place = Self.place(of: directory) else { return [] }
        // If this fails, the next use of the directory reports the error.
        try? createDirectory(at: place, withIntermediateDirectories: true)
        return [place]
    }

    /// The standard directory of this program.
    ///
    /// - Parameters:
    ///   - directory: `documentDirectory`, `libraryDirectory`, `applicationSupportDirectory` or
    ///     `cachesDirectory`.
    ///   - domain: `userDomainMask`.
    ///   - url: Ignored.
    ///   - shouldCreate: Whether to create it.
    /// - Throws: `CocoaError`: `featureUnsupported` for other directories and domains.
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

    /// A directory of this program for temporary files.
    public var temporaryDirectory: CofferURL { Self.container.appendingPathComponent("tmp") }

    /// The directory of an iCloud container, which never exists, as on a device without iCloud.
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

    // MARK: Creating and removing

    /// Creates a file, or replaces the content of an existing one.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - data: Its content; `nil` for an empty file.
    ///   - attributes: Its protection; any other attribute is an error.
    /// - Returns: Whether it succeeded.
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

    /// Creates a directory.
    ///
    /// - Parameters:
    ///   - url: The directory.
    ///   - createIntermediates: Whether to create its parents as well, and accept an existing directory.
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
                // An existing directory of another class is accepted and gets this class; an existing file
                // is an error.
                try client.call(FileMkdirParameters(name: name, makesParents: true))
                try client.call(FileProtectParameters(name, protectionClass, .newFiles))
            }
        }
    }

    /// Creates a directory.
    ///
    /// - Parameters:
    ///   - path: The path of the directory.
    ///   - createIntermediates: Whether to create its parents as well, and accept an existing directory.
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

    /// Removes a file, or a directory and its contents, in every state of the vault.
    ///
    /// - Parameter url: The file or the directory.
    /// - Throws: `CocoaError`.
    public func removeItem(at url: CofferURL) throws {
        try url.perform(.writing) { (client, name) throws(CofferError) in
            _ = try client.call(FileRemoveParameters(name: name, isRecursive: true))
        }
    }

    /// Removes a file, or a directory and its contents, in every state of the vault.
    ///
    /// - Parameter path: The path.
    /// - Throws: `CocoaError`.
    public func removeItem(atPath path: String) throws { try removeItem(at: CofferURL(fileURLWithPath: path)) }

    /// Renames a file or a directory, which keeps its protection, in every state of the vault from the first unlock on.
    ///
    /// - Parameters:
    ///   - source: The file or the directory.
    ///   - destination: Its new place.
    /// - Throws: `CocoaError`: `fileWriteFileExists` if the destination exists.
    public func moveItem(at source: CofferURL, to destination: CofferURL) throws {
        try source.perform(.writing) { (client, name) throws(CofferError) in
            _ = try client.call(FileRenameParameters(name: name, target: try destination.itemName))
        }
    }

    /// Renames a file or a directory, which keeps its protection, in every state of the vault from the first unlock on.
    ///
    /// - Parameters:
    ///   - source: The path.
    ///   - destination: The new path.
    /// - Throws: `CocoaError`: `fileWriteFileExists` if the destination exists.
    public func moveItem(atPath source: String, toPath destination: String) throws {
        try moveItem(at: CofferURL(fileURLWithPath: source), to: CofferURL(fileURLWithPath: destination))
    }

    // MARK: Attributes

    /// The attributes of a file or a directory, in every state of the vault from the first unlock on.
    ///
    /// - Parameter path: The path.
    /// - Returns: `type`, `size`, `creationDate`, `modificationDate`, and `protectionKey`, a
    ///   `FileProtectionType`. For a directory, the protection is that of new files in it, and is missing if
    ///   it inherits that of its parents.
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

    /// Changes the protection of a file, or of new files in a directory.
    ///
    /// - Parameters:
    ///   - attributes: The protection; any other attribute is an error.
    ///   - path: The path.
    /// - Throws: `CocoaError`: `fileWriteNoPermission` if a key that the change requires is not in memory;
    ///   `featureUnsupported`.
    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        guard let protectionClass = try Self.protectionClass(in: attributes, at: path) else { return }
        try CofferURL(fileURLWithPath: path).perform(.writing) { (client, name) throws(CofferError) in
            let isDirectory = try Self.isDirectory(name, client)
            try client.call(FileProtectParameters(name, protectionClass, isDirectory ? .newFiles : .file))
        }
    }

    /// Whether a name is known to be that of a directory: before the first unlock, the change itself is refused.
    private static func isDirectory(_ name: ItemName, _ client: BlockingClient) throws(CofferError) -> Bool {
        do {
            return try client.call(FileStatParameters(name: name)).value.isDirectory
        } catch {
            if error.code == .interactionNotAllowed { return false }
            throw error
        }
    }

    /// The class that the attributes set, if any.
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

    // MARK: Reading

    /// Whether a file or a directory exists; false if the daemon can't be reached.
    ///
    /// - Parameter path: The path.
    public func fileExists(atPath path: String) -> Bool { unsafe fileExists(atPath: path, isDirectory: nil) }

    /// Whether a file or a directory exists; false if the daemon can't be reached.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - isDirectory: Receives whether it is a directory.
    public func fileExists(atPath path: String, isDirectory: UnsafeMutablePointer<ObjCBool>?) -> Bool {
        do {
            let type = try attributesOfItem(atPath: path)[.type] as? FileAttributeType
            unsafe isDirectory?.pointee = ObjCBool(type == .typeDirectory)
            return true
        } catch {
            // Before the first unlock it is there, and nothing more is known of it.
            let reason = (error as NSError).userInfo[NSUnderlyingErrorKey] as? CofferError
            return reason?.code == .interactionNotAllowed
        }
    }

    /// Whether a file can be read in the current state of the vault; always true for a directory.
    ///
    /// - Parameter path: The path.
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
    /// - Parameter path: The path.
    /// - Returns: `nil` if it can't be read; `Data(contentsOf:)` throws the reason.
    public func contents(atPath path: String) -> Data? { try? Data(contentsOf: CofferURL(fileURLWithPath: path)) }

    /// The names of the entries of a directory.
    ///
    /// - Parameter path: The path.
    /// - Throws: `CocoaError`.
    public func contentsOfDirectory(atPath path: String) throws -> [String] {
        try entries(of: CofferURL(fileURLWithPath: path), .skipsSubdirectoryDescendants).map(\.lastPathComponent)
    }

    /// The entries of a directory.
    ///
    /// - Parameters:
    ///   - url: The directory.
    ///   - keys: Ignored; the values are read when they are requested.
    ///   - mask: `skipsHiddenFiles` skips names that begin with a dot.
    /// - Throws: `CocoaError`.
    public func contentsOfDirectory(
        at url: CofferURL,
        includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [CofferURL] {
        try entries(of: url, mask.union(.skipsSubdirectoryDescendants))
    }

    /// The entries of a directory and of those below it, at the time of the call.
    ///
    /// - Parameters:
    ///   - url: The directory.
    ///   - keys: Ignored; the values are read when they are requested.
    ///   - mask: `skipsHiddenFiles` skips names that begin with a dot, and what is below them;
    ///     `skipsSubdirectoryDescendants` skips the entries of subdirectories.
    ///   - handler: Receives the error if it can't be listed.
    /// - Returns: `nil` if it can't be listed.
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

/// Iterates over the entries of a directory and of those below it.
public final class CofferDirectoryEnumerator: Sequence, IteratorProtocol {
    private var rest: ArraySlice<CofferURL>

    init(_ entries: [CofferURL]) { rest = entries[...] }

    /// The next entry, a ``CofferURL``.
    public func next() -> Any? { rest.popFirst() }
}

extension Date {
    /// Converts a time of Coffer.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
