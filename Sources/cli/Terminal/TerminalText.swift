/// The kind of a content, as far as it concerns a terminal.
enum TerminalText {
    case lines, unfinishedLine, binary

    init(_ bytes: RawSpan) {
        let isText = unsafe bytes.withUnsafeBytes { buffer in
            // In UTF-8 the second control block of Latin-1 is C2 80 to C2 9F.
            unsafe !buffer.contains { $0 < 32 && $0 != 9 && $0 != 10 || $0 == 127 }
                && !zip(buffer, buffer.dropFirst()).contains { $0 == 0xC2 && $1 < 0xA0 }
                && String(validating: buffer, as: UTF8.self) != nil
        }
        guard isText else {
            self = .binary
            return
        }
        let last = bytes.byteCount - 1
        if last < 0 {
            self = .lines
            return
        }
        let isFinished = unsafe bytes.unsafeLoad(fromByteOffset: last, as: UInt8.self) == 10
        self = isFinished ? .lines : .unfinishedLine
    }
}
