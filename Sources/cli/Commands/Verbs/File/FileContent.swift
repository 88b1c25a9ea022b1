internal import CofferClient
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The content to write: a file, standard input, or typed text.
struct FileContent: ~Copyable {
    /// The typed text.
    private let typed: Secret?
    /// The source; `nil` if there is none.
    private let source: OwnedDescriptor?
    /// The noun for error texts.
    private let subject: String
    /// The size, if it is known.
    private let total: Int64?

    /// Opens the source, before the daemon is started.
    ///
    /// - Parameters:
    ///   - path: The path of a file; `nil` for standard input.
    ///   - prompt: The prompt on a terminal; `nil` for an empty content.
    init(of path: String?, prompt: Line?) throws(CofferError) {
        subject = path.map { quotedForDisplay($0) } ?? "standard input"
        guard path == nil && isatty(STDIN_FILENO) == 1 else {
            let source = try SecretInput.open(path)
            typed = nil
            total = source.remainingByteCount
            self.source = consume source
            return
        }
        typed = if let prompt { Secret(try SecretInput.ask(prompt, limit: Limits.secretBytes)) } else { nil }
        source = nil
        total = nil
    }

    /// Writes the content in pieces, and closes the file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - start: The first byte; `nil` appends.
    /// - Throws: The error, with the number of bytes written before it.
    borrowing func write(to file: OpenedFile, at start: Int64?) throws(CofferError) {
        let bar = ProgressBar()
        defer { bar?.finish() }
        var done: Int64 = 0
        do throws(CofferError) {
            if let typed, typed.count > 0 {
                try file.write(typed, at: start)
                done = Int64(typed.count)
            }
            try copy(to: file, at: start, &done, bar)
        } catch {
            bar?.finish()
            let isKept = (try? file.close()) != nil
            throw error.told(with: done, areKept: isKept)
        }
        do throws(CofferError) { try file.close() } catch { throw error.told(with: done, areKept: false) }
    }

    private borrowing func copy(
        to file: OpenedFile,
        at start: Int64?,
        _ done: inout Int64,
        _ bar: ProgressBar?
    ) throws(CofferError) {
        while true {
            let piece = try nextPiece()
            if piece.count == 0 { return }
            try file.write(piece, at: start.map { $0 + done })
            done += Int64(piece.count)
            bar?.update(done, of: total)
            if piece.count < Limits.framePayloadBytes { return }
        }
    }

    /// Reads until the piece is full or the source ends.
    private borrowing func nextPiece() throws(CofferError) -> Secret {
        switch source {
        case .none: return Secret(nil)
        case .some(let source):
            let bytes = try SecretInput.readAll(from: source.number, limit: Limits.framePayloadBytes) { error in
                CofferError(.io, "can't read \(subject): \(error.reason)")
            }
            return Secret(bytes)
        }
    }
}

extension OwnedDescriptor {
    /// The remaining bytes of a regular file; `nil` for anything else.
    fileprivate var remainingByteCount: Int64? {
        guard let status = try? status(), status.st_mode & S_IFMT == S_IFREG else { return nil }
        let place = lseek(number, 0, SEEK_CUR)
        return place < 0 ? nil : max(0, Int64(status.st_size) - Int64(place))
    }
}

extension CofferError {
    /// The error of an incomplete write.
    ///
    /// - Parameters:
    ///   - count: The bytes that the daemon had accepted.
    ///   - areKept: Whether they are on the disk.
    fileprivate func told(with count: Int64, areKept: Bool) -> CofferError {
        guard count > 0 else { return self }
        let words = areKept ? "were written before that" : "were sent before that, and may be lost"
        return CofferError(
            code: code,
            message: "\(message); \(count) bytes \(words)",
            hint: hint,
            retry: retry,
            cocoaCode: cocoaCode,
            need: need,
            reason: reason
        )
    }
}
