package import CofferCore
internal import CofferMemory
internal import CofferSystem

// What becomes of the space of slots of an overlay.

/// A plan to reserve disk space.
package struct AllocationPlan: Sendable {
    let content: OpenedContent
    let slots: Range<Int64>

    package init(content: OpenedContent, slots: Range<Int64>) {
        self.content = content
        self.slots = slots
    }

    /// Reserves the space.
    ///
    /// - Throws: `diskFull` if there is not enough, `io`.
    package func perform() throws(CofferError) {
        guard let overlay = content.overlay, !slots.isEmpty else { return }
        let start = overlay.offset(ofSlot: slots.lowerBound)
        do throws(SystemError) {
            try content.directory.fileSystem.willPerform(.write)
            try overlay.file.descriptor.reserve(overlay.offset(ofSlot: slots.upperBound) - start, at: start)
        } catch {
            throw error.cofferError("can't reserve room for \(content.subject)")
        }
    }
}

/// A plan to give space back to the disk.
package struct ReturnPlan: Sendable {
    let content: OpenedContent
    let slots: [Range<Int64>]

    package init(content: OpenedContent, slots: [Range<Int64>]) {
        self.content = content
        self.slots = slots
    }

    /// Gives the space of the slots back, as far as the file system can.
    package func perform() {
        guard let overlay = content.overlay else { return }
        for range in slots {
            let bytes = overlay.offset(ofSlot: range.lowerBound)..<overlay.offset(ofSlot: range.upperBound)
            try? overlay.file.descriptor.punch(bytes)
        }
    }
}
