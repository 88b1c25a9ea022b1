package import CofferClient
internal import CofferCrypto
internal import CofferMemory

/// The key of time-based one-time passwords, as an address `otpauth://totp/…` has it.
package struct OneTimeKey {
    /// The beginning of an address.
    static let scheme = Array("otpauth://".utf8)
    /// The fields of a secret that may have one.
    package static let fields = ["otp", "totp"]

    /// How a code comes from the key.
    private enum Kind {
        case timed
        case counted(UInt64)
        case steam
    }

    /// Parameters that change nothing of a code.
    private static let decorations: Set = [
        "issuer", "image", "icon", "color", "colour", "logo", "label", "name", "account", "username", "group", "tags",
        "note",
    ]

    private let key: Secret
    private let kind: Kind
    private let algorithm: OneTimePassword.Algorithm
    private let digits: Int
    /// The seconds for which a code is valid.
    package let period: Int64

    /// The number of the next code, if codes are counted.
    package var counter: UInt64? { if case .counted(let counter) = kind { counter } else { nil } }

    /// The key, if it makes the codes of Steam.
    package var steamKey: Secret? { if case .steam = kind { key } else { nil } }

    /// Reads an address, or what ``address(of:label:)`` makes one of.
    ///
    /// - Throws: `param` if it is none, or it asks for what is unknown.
    package init(uri: Secret) throws(CofferError) {
        var parameters: Parameters?
        let uri = try Self.address(of: uri, label: "")
        var fault = try uri?.withBytes { (bytes) throws(CofferError) -> String? in
            var read = Parameters()
            let fault = try read.read(bytes)
            parameters = read
            return fault
        }
        if uri == nil { fault = "it does not begin with 'otpauth://', and is no key in base32" }
        guard fault == nil, let parameters, let key = parameters.key else {
            throw CofferError(
                .param,
                "the address of the one-time codes can't be used: \(fault ?? "")",
                hint: "it is what a site shows as a QR code, such as otpauth://totp/NAME?secret=BASE32"
            )
        }
        (self.key, kind) = (key, parameters.kind)
        (algorithm, digits, period) = (parameters.algorithm, parameters.digits, parameters.period)
    }

    /// What an address asks for.
    private struct Parameters {
        var key: Secret?
        var kind = Kind.timed
        var algorithm = OneTimePassword.Algorithm.sha1
        var digits = 6
        var period: Int64 = 30
        private var names: Set<String> = []

        /// Reads an address.
        ///
        /// - Returns: Why it can't be used; `nil` if it can.
        mutating func read(_ bytes: RawSpan) throws(CofferError) -> String? {
            let all = bytes.trimmed(bytes.textStart..<bytes.byteCount)
            if bytes.beginsIgnoringCase("otpauth://hotp/", at: all.lowerBound) {
                kind = .counted(0)
            } else if bytes.beginsIgnoringCase("otpauth://steam/", at: all.lowerBound) {
                kind = .steam
            } else if !bytes.beginsIgnoringCase("otpauth://totp/", at: all.lowerBound) {
                return "it begins with another kind than 'otpauth://totp/', 'otpauth://hotp/' or 'otpauth://steam/'"
            }
            for (name, value) in bytes.queryItems(all) where !(name.isEmpty && value.isEmpty) {
                guard names.insert(name).inserted else { return "it has \(quotedForDisplay(name)) twice" }
                if name == "secret" {
                    key = try OneTimeKey.base32(bytes.extracting(value))
                } else if let fault = take(name, bytes.text(value)) {
                    return fault
                }
            }
            guard key.map({ $0.count > 0 }) == true else { return "its secret is missing, or not base32" }
            return combinationFault
        }

        private mutating func take(_ name: String, _ text: String) -> String? {
            switch name {
            case "algorithm":
                let word = text.uppercased().replacing("-", with: "")
                guard
                    let known = OneTimePassword.Algorithm(
                        rawValue: word.hasPrefix("HMAC") ? String(word.dropFirst(4)) : word
                    )
                else { return "its algorithm is not SHA1, SHA256 or SHA512" }
                algorithm = known
            case "digits":
                guard let count = Int(text), (5...8).contains(count) else { return "its digits are not 6 to 8" }
                digits = count
            case "period":
                guard let count = Int64(text), (1...3600).contains(count) else {
                    return "its period is not 1 to 3600 seconds"
                }
                period = count
            case "counter":
                guard let count = UInt64(text), count < UInt64(Int64.max) else { return "its counter is no number" }
                if case .counted = kind { kind = .counted(count) }
            case "encoder":
                guard text.lowercased() == "steam", case .timed = kind else { return "its encoder is not 'steam'" }
                kind = .steam
            default:
                guard OneTimeKey.decorations.contains(name) else {
                    return
                        "its parameter \(quotedForDisplay(String(name.prefix(32)))) is not known, and may change the codes"
                }
            }
            return nil
        }

        /// Why the parameters do not go together.
        private var combinationFault: String? {
            switch kind {
            case .steam:
                let isUsual = algorithm == .sha1 && period == 30 && (digits == 5 || !names.contains("digits"))
                return isUsual ? nil : "codes of Steam have 5 characters, 30 seconds and SHA1"
            case .counted where !names.contains("counter"): return "its counter is missing"
            case .timed, .counted: return digits < 6 ? "its digits are not 6 to 8" : nil
            }
        }
    }

    /// The code at a time, or of the counter.
    ///
    /// - Parameter seconds: Seconds since 1970.
    package func code(at seconds: Int64) throws(CofferError) -> Secret {
        do {
            let counter = self.counter ?? UInt64(max(0, seconds) / period)
            switch key.content {
            case .none: return Secret(nil)
            case .some(let bytes):
                if case .steam = kind { return Secret(try OneTimePassword.steamCode(counter: counter, key: bytes)) }
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
                // Sites show a key in groups, and padding and spaces may be escaped.
                if [.equals, UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "+"), 9].contains(byte) { continue }
                if byte == UInt8(ascii: "%"),
                    ["3D", "20", "2B", "2D"].contains(where: { text.beginsIgnoringCase($0, at: place) })
                {
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
        content.withBytes { $0.line(beginningWith: "otpauth://")?.lowerBound == $0.textStart }
    }
}

extension RawSpan {
    func beginsIgnoringCase(_ text: String, at start: Int) -> Bool {
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
        var start = textStart
        while start < byteCount {
            var end = start
            while end < byteCount && byte(at: end) != 10 { end += 1 }
            if beginsIgnoringCase(text, at: start) { return withoutReturn(start..<end) }
            start = end + 1
        }
        return nil
    }

    /// The names and values behind the question mark of an address.
    func queryItems(_ range: Range<Int>) -> [(name: String, value: Range<Int>)] {
        guard let mark = range.first(where: { byte(at: $0) == UInt8(ascii: "?") }) else { return [] }
        return items((mark + 1)..<range.upperBound)
    }

    /// Names and values, between ampersands.
    func items(_ range: Range<Int>) -> [(name: String, value: Range<Int>)] {
        var items: [(name: String, value: Range<Int>)] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = (start..<range.upperBound).first { byte(at: $0) == UInt8(ascii: "&") } ?? range.upperBound
            let sign = (start..<end).first { byte(at: $0) == .equals } ?? end
            items.append((text(start..<sign).lowercased(), min(sign + 1, end)..<end))
            start = end + 1
        }
        return items
    }
}
