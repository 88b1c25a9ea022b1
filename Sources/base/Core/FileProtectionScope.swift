/// The scope of a class change.
public enum FileProtectionScope: Hashable, Sendable {
    /// A file; a directory is refused.
    case file
    /// The new files of a directory; existing ones keep their class.
    case newFiles
    /// All files in a directory and below it, and new ones.
    case everything
}
