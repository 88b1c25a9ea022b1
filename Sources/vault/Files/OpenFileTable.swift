internal import CofferCore
internal import CofferFileContent

/// The open files, by the numbers of their rows, and their changes in the open transaction.
final class OpenFileTable {
    private let contents: ContentDirectory
    private let openContents: OpenContents
    private var files: [Int64: OpenFile] = [:]
    /// Those whose rows the transaction removes.
    private var unlinking: [OpenFile] = []
    /// Those that the transaction creates.
    private var creating: [OpenFile] = []
    /// Those whose sync is part of the transaction.
    private var committing: [OpenFile] = []
    /// Those whose overlays get their final paths after the transaction.
    private var staged: [OpenFile] = []
    /// Those with slots that are free once the commits are on the disk.
    private var freeing: [OpenFile] = []

    init(_ contents: ContentDirectory, _ openContents: OpenContents) {
        self.contents = contents
        self.openContents = openContents
    }

    subscript(node: Int64) -> OpenFile? { files[node] }

    var all: Dictionary<Int64, OpenFile>.Values { files.values }

    /// Whether a file is open for writing, or has unsynced writes.
    func isBeingWritten(_ node: Int64) -> Bool { files[node].map { $0.hasWriter || $0.hasChanges } ?? false }

    // MARK: Changing

    /// Adds a file that was opened.
    func add(_ file: OpenFile) { files[file.node] = file }

    /// Removes a file whose handles a lock has revoked.
    func remove(_ file: OpenFile) { if files[file.node] === file { files[file.node] = nil } }

    /// Adds a file that the transaction creates.
    func create(_ file: OpenFile) {
        add(file)
        creating.append(file)
    }

    /// Removes a file whose row the transaction removes; its handles keep it.
    func unlink(_ file: OpenFile) {
        remove(file)
        unlinking.append(file)
    }

    /// Notes that the transaction has recorded the writes of a file.
    func commit(_ file: OpenFile) {
        committing.append(file)
        if file.isOverlayStaged { staged.append(file) }
    }

    /// Closes a file without handles.
    func close(_ file: OpenFile) {
        guard file.handleCount == 0, !file.hasForgotten else { return }
        openContents.close(file.content.key, of: file.id)
        remove(file)
        unlinking.removeAll { $0 === file }
    }

    // MARK: After the transaction

    /// The transaction was committed.
    func settle() {
        for file in staged where (try? contents.placeOverlay(file.id)) != nil { file.overlayIsPlaced() }
        for file in committing where file.endCommit() { freeing.append(file) }
        (staged, committing, creating, unlinking) = ([], [], [], [])
    }

    /// The commits are on the disk: the slots that they have freed may be written again.
    ///
    /// - Parameter keepsSlots: Whether a backup may read them.
    func settleSynced(keepingSlots keepsSlots: Bool) {
        let freed = freeing
        freeing = []
        for file in freed {
            file.freeForgotten(keepingSlots: keepsSlots)
            close(file)
        }
    }

    /// The transaction was rolled back.
    ///
    /// - Parameter isCertain: Whether nothing of it can be on the disk.
    func abandon(isCertain: Bool) {
        for file in creating {
            openContents.close(file.content.key, of: file.id)
            files[file.node] = nil
            file.undoCreation()
            if isCertain { contents.discardStagedOverlay(file.id) }
        }
        for file in committing { file.undoCommit() }
        for file in unlinking {
            file.undoUnlinking()
            add(file)
        }
        (staged, committing, creating, unlinking) = ([], [], [], [])
    }
}
