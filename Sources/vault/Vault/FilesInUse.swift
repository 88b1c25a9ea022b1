internal import CofferCore
package import CofferFiles

/// The files that are open, or were closed, and are not synced yet.
package struct FilesInUse {
    /// Those that clients have closed.
    package var closed: [ClosedFile] = []
    /// Closed ones whose sync is under way; one of them may be among ``closed`` again, because it was written and closed
    /// anew.
    package var beingSynced: [ClosedFile] = []
    /// The files with changes that are not synced, and the processes that have made them, of which clients that watch
    /// were not notified.
    package var unannounced: [UnannouncedFile] = []
    /// The number of handles of closed connections that are still being synced.
    package var orphanCount = 0

    /// Whether so many wait that a sync must not wait for more.
    package var areMany: Bool { closed.count >= Limits.closedFilesAtOnce }
    /// Whether so many wait that another one must not wait.
    package var areTooMany: Bool { closed.count >= Limits.closedFiles }

    mutating func forgetClosed() { (closed, beingSynced) = ([], []) }
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
