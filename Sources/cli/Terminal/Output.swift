package import CofferClient
package import CofferSystem
internal import Glibc
internal import Synchronization

/// Standard output or standard error.
///
/// The requested data goes to the first, everything else to the second, and only through this type. ``Line``
/// and JSON escape what a terminal would interpret; the bytes of a requested secret are written unchanged.
package struct Output {
    package static let standardOutput = Output(descriptor: STDOUT_FILENO)
    package static let standardError = Output(descriptor: STDERR_FILENO)

    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// Whether it is a terminal, or a pager on one.
    package var isTerminal: Bool { isatty(descriptor) == 1 || descriptor == STDOUT_FILENO && Pager.isRunning }

    /// The first error of writing to standard output, which is checked when the verb has ended.
    private static let firstFailure = Mutex<SystemError?>(nil)

    /// The error if some output was lost.
    package static var failure: SystemError? { firstFailure.withLock { $0 } }

    /// Writes part of a line.
    func write(_ part: Line) { write(text: Self.text(of: part, isTerminal)) }

    private static func text(of line: Line, _ isTerminal: Bool) -> String {
        guard isTerminal else { return line.forPipe }
        return hasColours ? line.forTerminal : line.forTerminal.withoutColours
    }

    /// Whether the person wants colours, and the terminal has them, as other programs decide it.
    private static let hasColours =
        environment("NO_COLOR") == nil && environment("TERM").map { $0 != "dumb" } ?? false

    /// Whether whatever reads it, such as `head`, has closed it.
    var isAbandoned: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&state, 1, 0) > 0 && state.revents & Int16(POLLERR | POLLHUP) != 0
    }

    private func write(text: String) {
        // What follows a lost part is of no use.
        if descriptor == STDOUT_FILENO && Self.failure != nil { return }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count <= 0 {
                let error = SystemError("write")
                if descriptor == STDOUT_FILENO { Self.firstFailure.withLock { $0 = $0 ?? error } }
                return
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes a line.
    package func line(_ line: Line) { write(line + "\n") }

    /// Writes lines, many of them by one call.
    package func lines(_ lines: some Sequence<Line>) {
        let isTerminal = isTerminal
        var piece = ""
        for line in lines {
            piece += Self.text(of: line, isTerminal)
            piece += "\n"
            if piece.utf8.count >= Limits.outputBytes {
                write(text: piece)
                piece = ""
            }
        }
        if !piece.isEmpty { write(text: piece) }
    }

    /// Writes a value as JSON, on one line.
    ///
    /// What a terminal would interpret can only be inside strings, and is written as equivalent escapes of
    /// JSON.
    package func line(_ json: JSONObject) {
        let bytes = JSONValue.object(json).serialized()
        let text = String(decoding: bytes, as: UTF8.self)
        let isPlain = bytes.allSatisfy { (0x20..<0x7F).contains($0) }
        write(text: (isPlain ? text : text.unicodeScalars.reduce(into: "") { $0 += $1.escapedInJSON }) + "\n")
    }

    /// Writes a requested secret on one line, without a copy in ordinary memory.
    package func line(_ secret: Secret) throws(CofferError) {
        try secret.write(to: descriptor, "the output")
        write("\n")
    }

    /// Prints an error as the verb was asked to print: in words, or as JSON.
    package static func report(_ error: CofferError) {
        let options = CommandLine.arguments.prefix { $0 != "--" }
        options.contains("--json") ? standardError.line(error.json) : standardError.write(error)
    }

    /// Writes an error and its hint.
    private func write(_ error: CofferError) {
        line("\("error:", in: .red) \(error.message)")
        if let hint = error.hint {
            line("\("hint:", in: .cyan) \(hint)")
        } else if case .afterDelay(let seconds) = error.retry {
            line("\("hint:", in: .cyan) try again in \(durationForDisplay(seconds: seconds))")
        } else if error.retry == .later {
            line("\("hint:", in: .cyan) try again in a moment")
        }
    }
}

extension Unicode.Scalar {
    /// The scalar itself, or its escape in UTF-16.
    fileprivate var escapedInJSON: String {
        guard isUnseen else { return String(self) }
        return UTF16.encode(self).map { units in units.reduce(into: "") { $0 += Self.escape($1) } } ?? ""
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
