internal import CofferCore
package import CofferFiles

/// The files that clients have closed, and that are not synced yet.
package struct ClosedFiles {
    package var files: [ClosedFile] = []
    /// Those whose sync is under way; one of them may be among ``files`` again, because it was written and closed anew.
    package var beingSynced: [ClosedFile] = []

    /// Whether so many wait that a sync must not wait for more.
    package var areMany: Bool { files.count >= Limits.closedFilesAtOnce }
    /// Whether so many wait that another one must not wait.
    package var areTooMany: Bool { files.count >= Limits.closedFiles }
}

/// A file that was closed before it was synced.
package struct ClosedFile {
    package let file: OpenFile
    /// The process that has closed it, which need not be notified of its own changes; `nil` if there are several.
    package var origin: Int32?

    package init(_ file: OpenFile, by origin: Int32?) {
        self.file = file
        self.origin = origin
    }
}

/// A file with changes that are not synced, and of which clients that watch were not notified.
package struct UnannouncedFile {
    package let file: OpenFile
    /// The process that has made them.
    package let origin: Int32?

    package init(_ file: OpenFile, of origin: Int32?) {
        self.file = file
        self.origin = origin
    }
}
