internal import CofferSystem

/// Sealed chunks for slots that follow each other, which are written by one call.
struct AdjacentSlots {
    private let overlay: Overlay
    private let content: OpenedContent
    private var first: Int64 = 0
    private var stored: [UInt8] = []

    init(_ overlay: Overlay, of content: OpenedContent) {
        self.overlay = overlay
        self.content = content
    }

    /// Adds a chunk, after those that it does not follow were written.
    mutating func add(_ chunk: [UInt8], at slot: Int64) throws(SystemError) {
        let isNext = stored.count == Int(slot - first) * overlay.slotBytes
        if isNext, !stored.isEmpty {
            stored += chunk
        } else {
            try write()
            (first, stored) = (slot, chunk)
        }
    }

    mutating func write() throws(SystemError) {
        if stored.isEmpty { return }
        try content.directory.fileSystem.willPerform(.write)
        try overlay.write(stored, at: first)
        stored = []
    }
}
