package import CofferClient
internal import CofferCrypto
internal import CofferMemory

/// The key of time-based one-time passwords, as an address `otpauth://totp/…` has it.
package struct OneTimeKey {
    /// The beginning of an address.
    static let scheme = Array("otpauth://".utf8)
    /// The fields of a secret that may have one.
    package static let fields = ["otp", "totp"]

    private let key: Secret
    private let algorithm: OneTimePassword.Algorithm
    private let digits: Int
    /// The seconds for which a code is valid.
    package let period: Int64

    /// Reads an address.
    ///
    /// - Throws: `param` if it is none, or it asks for what is unknown.
    package init(uri: Secret) throws(CofferError) {
        var algorithm = OneTimePassword.Algorithm.sha1
        var (digits, period) = (6, Int64(30))
        var key: Secret?
        let fault = try uri.withBytes { (bytes) throws(CofferError) -> String? in
            let all = bytes.trimmed(0..<bytes.byteCount)
            guard bytes.beginsIgnoringCase("otpauth://", at: all.lowerBound) else {
                return "it does not begin with 'otpauth://'"
            }
            guard bytes.beginsIgnoringCase("otpauth://totp/", at: all.lowerBound) else {
                return "it is no address of time-based codes, 'otpauth://totp/'"
            }
            for (name, value) in bytes.queryItems(all) {
                let text = name == "secret" ? "" : bytes.text(value)
                switch name {
                case "secret": key = try Self.base32(bytes.extracting(value))
                case "algorithm":
                    let word = text.uppercased().replacing("-", with: "")
                    guard let known = OneTimePassword.Algorithm(rawValue: word) else {
                        return "its algorithm is none of SHA1, SHA256 and SHA512"
                    }
                    algorithm = known
                case "digits":
                    guard let count = Int(text), (6...8).contains(count) else { return "its digits are not 6 to 8" }
                    digits = count
                case "period":
                    guard let count = Int64(text), (1...3600).contains(count) else {
                        return "its period is not 1 to 3600 seconds"
                    }
                    period = count
                default: break
                }
            }
            return key.map { $0.count > 0 } == true ? nil : "its secret is missing, or not base32"
        }
        guard fault == nil, let key else {
            throw CofferError(
                .param,
                "the address of the one-time codes can't be used: \(fault ?? "")",
                hint: "it is what a site shows as a QR code, such as otpauth://totp/NAME?secret=BASE32"
            )
        }
        (self.key, self.algorithm, self.digits, self.period) = (key, algorithm, digits, period)
    }

    /// The code at a time.
    ///
    /// - Parameter seconds: Seconds since 1970.
    package func code(at seconds: Int64) throws(CofferError) -> Secret {
        do {
            let counter = UInt64(max(0, seconds) / period)
            switch key.content {
            case .none: return Secret(nil)
            case .some(let bytes):
                return Secret(try OneTimePassword.code(counter: counter, key: bytes, algorithm, digits: digits))
            }
        } catch {
            throw .noSecretMemory
        }
    }

    /// Base32 of RFC 4648, in letters of either case, with or without padding; `nil` for anything else.
    private static func base32(_ text: RawSpan) throws(CofferError) -> Secret? {
        var isValid = true
        let key = try Secret(capacity: text.byteCount) { (output) throws(CofferError) in
            var (bits, count) = (UInt32(0), 0)
            var place = 0
            while place < text.byteCount {
                let byte = text.byte(at: place)
                place += 1
                // Padding may be escaped.
                if byte == .equals { continue }
                if byte == UInt8(ascii: "%"), text.beginsIgnoringCase("3D", at: place) {
                    place += 2
                    continue
                }
                let value: UInt8
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
                case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a")
                case UInt8(ascii: "2")...UInt8(ascii: "7"): value = byte - UInt8(ascii: "2") + 26
                default:
                    isValid = false
                    return
                }
                bits = bits << 5 | UInt32(value)
                count += 5
                if count >= 8 {
                    count -= 8
                    output.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                }
            }
        }
        return isValid ? key : nil
    }
}

extension OneTimeKey {
    /// The address in a secret: one of its lines, or one of its fields; `nil` if there is none.
    package static func address(in content: Secret) throws(CofferError) -> Secret? {
        if let line = content.withBytes({ $0.line(beginningWith: "otpauth://") }) {
            return try content.withBytes { (bytes) throws(CofferError) in try Secret(copying: bytes.extracting(line)) }
        }
        guard let fields = SecretFields(content) else { return nil }
        for field in Self.fields {
            if let value = try fields.value(of: field) { return value }
        }
        return nil
    }

    /// Whether a secret is an address, and nothing else.
    package static func isAddress(_ content: Secret) -> Bool {
        content.withBytes { $0.line(beginningWith: "otpauth://")?.lowerBound == 0 }
    }
}

extension RawSpan {
    fileprivate func beginsIgnoringCase(_ text: String, at start: Int) -> Bool {
        let letters = Array(text.utf8)
        return start + letters.count <= byteCount
            && letters.indices.allSatisfy { index in
                let byte = self.byte(at: start + index)
                let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
                return byte == letters[index] || isLetter && byte & 0xDF == letters[index] & 0xDF
            }
    }

    /// The first line that begins with a text, without its end.
    package func line(beginningWith text: String) -> Range<Int>? {
        var start = 0
        while start < byteCount {
            var end = start
            while end < byteCount && byte(at: end) != 10 { end += 1 }
            if beginsIgnoringCase(text, at: start) { return withoutReturn(start..<end) }
            start = end + 1
        }
        return nil
    }

    /// The names and values behind the question mark of an address.
    fileprivate func queryItems(_ range: Range<Int>) -> [(name: String, value: Range<Int>)] {
        guard let mark = range.first(where: { byte(at: $0) == UInt8(ascii: "?") }) else { return [] }
        var items: [(name: String, value: Range<Int>)] = []
        var start = mark + 1
        while start < range.upperBound {
            let end = (start..<range.upperBound).first { byte(at: $0) == UInt8(ascii: "&") } ?? range.upperBound
            let sign = (start..<end).first { byte(at: $0) == .equals } ?? end
            items.append((text(start..<sign).lowercased(), min(sign + 1, end)..<end))
            start = end + 1
        }
        return items
    }
}
