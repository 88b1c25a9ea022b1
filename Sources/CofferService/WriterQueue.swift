internal import CofferFiles

/// Has one at a time write to a file, and those who wait for it in the order of their coming.
final class WriterQueue {
    private struct Waiting {
        let file: OpenFile
        let isWanted: () -> Bool
        let turn: CheckedContinuation<Bool, Never>

        /// Whether its turn can't come any more: a lock has ended the file, or its client has gone.
        var isInVain: Bool { file.isRevoked || !isWanted() }
    }

    private var waiting: [Waiting] = []

    /// Becomes the writer of a file, if need be after those before it.
    ///
    /// Where it does, this is followed by one ``leave(_:)``.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - waits: Whether to wait where there is a writer.
    ///   - isWanted: Whether somebody still waits for this.
    /// - Returns: Whether it is the writer: not where it would have to wait and does not, or has waited in vain.
    func enter(
        _ file: OpenFile,
        waits: Bool,
        isolation: isolated (any Actor)? = #isolation,
        while isWanted: @escaping () -> Bool
    ) async -> Bool {
        // Decided where nobody comes in between: the call itself may let others go first.
        await withCheckedContinuation { turn in
            if file.hasWriter && waits {
                return waiting.append(Waiting(file: file, isWanted: isWanted, turn: turn))
            }
            let isWriter = !file.hasWriter
            file.hasWriter = true
            turn.resume(returning: isWriter)
        }
    }

    /// Makes the next one the writer of a file.
    func leave(_ file: OpenFile) {
        guard let next = waiting.firstIndex(where: { $0.file === file }) else { return file.hasWriter = false }
        waiting.remove(at: next).turn.resume(returning: true)
    }

    /// Lets those go who wait in vain.
    func wakeThoseInVain() {
        if waiting.isEmpty { return }
        let idle = waiting.filter(\.isInVain)
        waiting.removeAll(where: \.isInVain)
        for one in idle { one.turn.resume(returning: false) }
    }
}
