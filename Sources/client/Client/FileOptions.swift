package import CofferCore
package import CofferWire

/// How a file is opened.
public struct FileOpenOptions: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Makes a set from its bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Create the file if it does not exist.
    public static let create = FileOpenOptions(rawValue: 1)
    /// Fail if the file exists; used with ``create``.
    public static let exclusive = FileOpenOptions(rawValue: 2)
    /// Empty the file.
    public static let truncate = FileOpenOptions(rawValue: 4)
    /// Write at the end only.
    public static let append = FileOpenOptions(rawValue: 8)
    /// Wait until no other handle writes the file.
    public static let wait = FileOpenOptions(rawValue: 16)
}

extension FileOpenParameters {
    /// The parameters that open a file with these options.
    init(
        _ name: ItemName,
        in group: String?,
        _ access: FileAccess,
        _ options: FileOpenOptions,
        _ protectionClass: ProtectionClass?,
        atLeast leastClass: ProtectionClass? = nil,
        _ version: Int64? = nil
    ) {
        self.init(
            name: name,
            access: access,
            creates: options.contains(.create),
            isExclusive: options.contains(.exclusive),
            truncates: options.contains(.truncate),
            appends: options.contains(.append),
            protectionClass: protectionClass,
            leastClass: leastClass,
            waits: options.contains(.wait),
            version: version,
            group: group
        )
    }
}

extension FileProtectParameters {
    /// The parameters that change the class of a file, or of a directory as the scope says.
    package init(
        _ name: ItemName?,
        _ protectionClass: ProtectionClass,
        _ scope: FileProtectionScope = .file,
        in group: String? = nil,
        wantsProgress: Bool = false
    ) {
        self.init(
            name: name,
            protectionClass: protectionClass,
            isRecursive: scope == .everything,
            isDefaultOnly: scope == .newFiles,
            wantsProgress: wantsProgress,
            group: group
        )
    }
}
