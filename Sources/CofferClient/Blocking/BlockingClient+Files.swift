public import CofferCore
public import CofferWire

/// How a file is opened.
public struct FileOpenOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// The options of some bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A file that does not exist is made.
    public static let create = FileOpenOptions(rawValue: 1)
    /// A file that exists is refused; goes with ``create``.
    public static let exclusive = FileOpenOptions(rawValue: 2)
    /// The file is empty to begin with.
    public static let truncate = FileOpenOptions(rawValue: 4)
    /// Everything is written at the end.
    public static let append = FileOpenOptions(rawValue: 8)
    /// Waits until nobody else writes the file.
    public static let wait = FileOpenOptions(rawValue: 16)
}

extension FileOpenParameters {
    /// The parameters of opening a file with some options.
    init(_ name: ItemName, _ access: FileAccess, _ options: FileOpenOptions, _ protectionClass: ProtectionClass?) {
        self.init(
            name: name,
            access: access,
            creates: options.contains(.create),
            isExclusive: options.contains(.exclusive),
            truncates: options.contains(.truncate),
            appends: options.contains(.append),
            protectionClass: protectionClass,
            waits: options.contains(.wait)
        )
    }
}

extension BlockingClient {
    /// Opens a file of the file store.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - access: What for.
    ///   - options: How.
    ///   - protectionClass: The class of a file that is made; that of its directory, or else the standard, if nothing is said.
    /// - Returns: The file, which is closed with the connection at the latest.
    /// - Throws: `itemNotFound`; `duplicateItem` where it is to be made and exists; `interactionNotAllowed` where its key is
    ///   not there now; `notAvailable` where somebody else writes it.
    public func openFile(
        _ name: ItemName,
        for access: FileAccess = .read,
        _ options: FileOpenOptions = [],
        protectionClass: ProtectionClass? = nil
    ) throws(CofferError) -> OpenedFile {
        let params = FileOpenParameters(name, access, options, protectionClass)
        return OpenedFile(name, try call(.fileOpen, params, returning: FileOpenResult.self).value, of: self)
    }

    /// Saves what can be read of a damaged file, with zeros in the place of the rest.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - descriptor: The number of a descriptor that takes the content.
    ///   - progress: Told how far it has come: the bytes done, and the bytes there are.
    /// - Returns: What could not be read.
    /// - Throws: `itemNotFound`; `interactionNotAllowed`; `decode` where nothing of it can be read.
    public func salvage(
        _ name: ItemName,
        into descriptor: Int32,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Salvage {
        let params = FileSalvageParameters(name: name, wantsProgress: progress != nil)
        return try call(.fileSalvage, params, passing: descriptor, returning: Salvage.self, progress: progress).value
    }
}
