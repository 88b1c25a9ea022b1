/// A file or a directory as a listing shows it: never its content.
public struct FileInfo: Hashable, Sendable {
    /// The path.
    public let name: String
    /// Whether it is a directory.
    public let isDirectory: Bool
    /// The class of a file; the class that new files in a directory have, `nil` where it leaves that to those around it.
    public let protectionClass: ProtectionClass?
    /// The bytes of a file; 0 for a directory.
    public let byteCount: Int64
    /// What its owner said it is.
    public let kind: ItemKind?
    /// When it was created, in milliseconds since 1970.
    public let created: Int64
    /// When its content or its class was last changed, in milliseconds since 1970.
    public let modified: Int64
    /// Whether it can be read now; a directory always can.
    public let isReadable: Bool
    /// Whether somebody has the file open for writing.
    public let isOpenForWriting: Bool
    /// How many entries a directory has; `nil` for a file.
    public let childCount: Int?

    /// Describes an entry.
    public init(
        name: String,
        isDirectory: Bool,
        protectionClass: ProtectionClass?,
        byteCount: Int64,
        kind: ItemKind?,
        created: Int64,
        modified: Int64,
        isReadable: Bool,
        isOpenForWriting: Bool,
        childCount: Int?
    ) {
        self.name = name
        self.isDirectory = isDirectory
        self.protectionClass = protectionClass
        self.byteCount = byteCount
        self.kind = kind
        self.created = created
        self.modified = modified
        self.isReadable = isReadable
        self.isOpenForWriting = isOpenForWriting
        self.childCount = childCount
    }
}

/// A part of a listing of files and directories, in no order that says anything of the names.
public struct FilePage: Hashable, Sendable {
    /// The files and directories.
    public let entries: [FileInfo]
    /// What the next page is asked for with; `nil` where the listing is complete.
    public let cursor: String?
    /// The entries of this part that are damaged, and so have no name to list.
    public let damagedCount: Int

    /// Makes a page.
    public init(entries: [FileInfo], cursor: String?, damagedCount: Int) {
        self.entries = entries
        self.cursor = cursor
        self.damagedCount = damagedCount
    }
}

/// What came of changing the class of files.
public struct FileProtectionChange: Hashable, Sendable {
    /// Something that kept its class.
    public struct Unchanged: Hashable, Sendable {
        /// Its path; where it is damaged and has none to tell, that of the directory that it is in.
        public let name: String
        /// Why.
        public let code: ErrorCode
        /// Why, in words.
        public let message: String

        /// Describes it.
        public init(name: String, code: ErrorCode, message: String) {
            self.name = name
            self.code = code
            self.message = message
        }
    }

    /// The files and directories that have another class now; what had it already is not counted.
    public let changedCount: Int
    /// What kept its class and why, the first hundred of them.
    public let unchanged: [Unchanged]
    /// How many kept their class though they were to have another one.
    public let unchangedCount: Int

    /// Describes a change.
    public init(changedCount: Int, unchanged: [Unchanged], unchangedCount: Int) {
        self.changedCount = changedCount
        self.unchanged = unchanged
        self.unchangedCount = unchangedCount
    }
}

/// What of a directory gets another class.
public enum FileProtectionScope: Hashable, Sendable {
    /// A file; a directory is refused.
    case file
    /// The new files of a directory; those that are there keep their class.
    case newFiles
    /// All files that are in a directory, those in its directories included, and new ones.
    case everything
}
