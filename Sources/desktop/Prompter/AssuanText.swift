package import CofferCore

/// The texts of Assuan, which a pinentry speaks.
package enum AssuanText {
    /// A command with a text, which is cut so that the pinentry reads it as one line.
    ///
    /// - Returns: The line, without its end.
    package static func command(_ name: String, _ text: Line) -> String {
        "\(name) \(escaped(text.forTerminal, upTo: Limits.assuanLineBytes - name.utf8.count - 1))"
    }

    /// Escapes what would end the line or an escape, and what could be markup.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - limit: The bytes of the result.
    package static func escaped(_ text: String, upTo limit: Int) -> String {
        let ellipsis = "…"
        var (whole, cut) = ("", "")
        for scalar in text.unicodeScalars {
            whole += escaped(scalar)
            if whole.utf8.count > limit { return cut + ellipsis }
            if whole.utf8.count + ellipsis.utf8.count <= limit { cut = whole }
        }
        return whole
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        // Qt takes a text for markup if it has a tag, and would load what an image names.
        if scalar == "<" { return "‹" }
        guard scalar == "%" || scalar.value < 0x20 || scalar.value == 0x7F else { return String(scalar) }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return digits.count == 1 ? "%0\(digits)" : "%\(digits)"
    }

    /// Decodes escapes in place, and wipes the rest.
    ///
    /// - Returns: The number of bytes; `nil` if an escape is malformed.
    package static func decode(_ bytes: UnsafeMutableRawBufferPointer) -> Int? {
        var (from, to) = (0, 0)
        while from < bytes.count {
            var byte = unsafe bytes[from]
            from += 1
            if byte == UInt8(ascii: "%") {
                guard from + 1 < bytes.count, let high = unsafe digit(bytes[from]),
                    let low = unsafe digit(bytes[from + 1])
                else { return nil }
                byte = high << 4 | low
                from += 2
            }
            unsafe bytes[to] = byte
            to += 1
        }
        for index in to..<bytes.count { unsafe bytes[index] = 0 }
        return to
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// What a line of a pinentry is.
package enum AssuanLine: Equatable {
    case ok
    case failure(code: Int, text: String)
    /// A part of the answer, behind the first two bytes.
    case data
    /// A status or a comment, which changes nothing.
    case aside
    case other

    package init(_ line: UnsafeRawBufferPointer) {
        // Of a line with data, no more than its beginning is copied.
        let start = unsafe String(decoding: line.prefix(4), as: UTF8.self)
        if start.hasPrefix("D ") {
            self = .data
        } else if start == "OK" || start == "OK " || start.hasPrefix("OK ") {
            self = .ok
        } else if start == "ERR " {
            let words = unsafe String(decoding: line.dropFirst(4), as: UTF8.self)
                .split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard let code = Int(words[0]) else {
                self = .other
                return
            }
            self = .failure(code: code, text: words.count > 1 ? String(words[1]) : "")
        } else if start == "S" || start.hasPrefix("S ") || start.hasPrefix("#") {
            self = .aside
        } else {
            self = .other
        }
    }
}
