internal import CofferClient
internal import CofferCore
internal import CofferSystem
internal import CofferWire
internal import Glibc
internal import Synchronization

/// Standard output or standard error.
///
/// The thing asked for goes to the first, all else to the second. Nothing else writes to either: what a terminal would obey is
/// escaped here, by ``Line`` and by JSON, and the bytes of a secret that was asked for go out as they are.
struct Output {
    static let standardOutput = Output(descriptor: STDOUT_FILENO)
    static let standardError = Output(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Whether a person reads along.
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// What could not be written to standard output: looked at when the verb has ended.
    private static let firstFailure = Mutex<SystemError?>(nil)

    /// Why something of the output is missing, if it is.
    static var failure: SystemError? { firstFailure.withLock { $0 } }

    /// Writes a part of a line.
    func write(_ part: Line) { write(text: isTerminal ? part.forTerminal : part.forPipe) }

    private func write(text: String) {
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
    func line(_ line: Line) { write(line + "\n") }

    /// Writes a value as JSON, on a line of its own.
    ///
    /// What a terminal would obey is written as JSON's escapes, which mean the same: it can be inside strings only.
    func line(_ json: JSONObject) {
        let bytes = JSONValue.object(json).serialized()
        let text = String(decoding: bytes, as: UTF8.self)
        let isPlain = bytes.allSatisfy { (0x20..<0x7F).contains($0) }
        write(text: (isPlain ? text : text.unicodeScalars.reduce(into: "") { $0 += $1.escapedInJSON }) + "\n")
    }

    /// Writes a secret that was asked for, on a line of its own, without a copy that nobody wipes.
    func line(_ secret: Secret) throws(CofferError) {
        try secret.write(to: descriptor, "the output")
        write("\n")
    }

    /// Says what failed, why, and what to do.
    func write(_ error: CofferError) {
        line("error: \(error.message)")
        if let hint = error.hint {
            line("hint: \(hint)")
        } else if case .afterDelay(let seconds) = error.retry {
            line("hint: try again in \(durationForDisplay(seconds: seconds))")
        }
    }
}

extension Unicode.Scalar {
    /// The scalar as it is, or by its number in UTF-16.
    fileprivate var escapedInJSON: String {
        guard isUnseen else { return String(self) }
        return UTF16.encode(self).map { units in units.reduce(into: "") { $0 += Self.escape($1) } } ?? ""
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
