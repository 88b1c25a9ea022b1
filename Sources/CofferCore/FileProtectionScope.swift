/// What of a directory gets another class.
public enum FileProtectionScope: Hashable, Sendable {
    /// A file; a directory is refused.
    case file
    /// The new files of a directory; those that are there keep their class.
    case newFiles
    /// All files that are in a directory, those in its directories included, and new ones.
    case everything
}
