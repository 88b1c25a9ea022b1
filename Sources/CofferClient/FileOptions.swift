package import CofferCore
package import CofferWire

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

extension FileProtectParameters {
    /// The parameters of changing the class of a file, or of what a scope says of a directory.
    package init(
        _ name: ItemName,
        _ protectionClass: ProtectionClass,
        _ scope: FileProtectionScope = .file,
        wantsProgress: Bool = false
    ) {
        self.init(
            name: name,
            protectionClass: protectionClass,
            isRecursive: scope == .everything,
            isDefaultOnly: scope == .newFiles,
            wantsProgress: wantsProgress
        )
    }
}
