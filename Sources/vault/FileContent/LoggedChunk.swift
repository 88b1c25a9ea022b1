package import CofferCore
internal import CofferCrypto
internal import CofferSystem

/// A sealed chunk as it is in its slot, for the log of the catalog.
package struct LoggedChunk: Equatable, Sendable {
    package let slot: Int64
    /// The salt and the ciphertext.
    package let stored: [UInt8]

    package init(slot: Int64, stored: [UInt8]) {
        self.slot = slot
        self.stored = stored
    }
}

extension Overlay {
    /// How many bytes chunks have in their slots.
    package func loggedByteCount(of slots: some Sequence<ChunkSlot>) -> Int {
        slots.reduce(0) { $0 + SlotCipher.saltBytes + $1.byteCount }
    }

    /// What is in a slot; `nil` if the kernel does not have it in memory.
    package func loggedChunk(in slot: ChunkSlot) -> LoggedChunk? {
        var stored = [UInt8](repeating: 0, count: SlotCipher.saltBytes + slot.byteCount)
        let isCached = unsafe stored.withUnsafeMutableBytes { buffer in
            unsafe file.descriptor.readCached(into: buffer, at: offset(ofSlot: slot.number))
        }
        return isCached ? LoggedChunk(slot: slot.number, stored: stored) : nil
    }

    /// Whether a row can be of a slot of it.
    fileprivate func canHold(_ chunk: LoggedChunk) -> Bool {
        (0...(Limits.fileBytes / Int64(chunkBytes))).contains(chunk.slot)
            && (SlotCipher.saltBytes...slotBytes).contains(chunk.stored.count)
    }
}

extension ContentDirectory {
    /// Writes chunks to their slots again, and syncs them.
    ///
    /// - Returns: Whether they are on the disk, or have no overlay any more.
    package func restore(_ chunks: [LoggedChunk], of id: ItemID) -> Bool {
        do {
            guard let found = try openOverlay(id) else { return true }
            guard let overlay = try? Overlay(found.file, of: id) else { return true }
            for chunk in chunks where overlay.canHold(chunk) {
                try fileSystem.willPerform(.write)
                try overlay.write(chunk.stored, at: chunk.slot)
            }
            try synchronizeOverlay(found.file.descriptor, isStaged: found.isStaged)
            return true
        } catch {
            return false
        }
    }
}
