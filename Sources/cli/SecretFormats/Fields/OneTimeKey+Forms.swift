package import CofferClient

extension OneTimeKey {
    /// The address that stands for a key, in the forms in which programs and sites show one.
    ///
    /// An address stays as it is. `steam://KEY`, KeeOtp's `key=KEY&step=30&size=6` and a key alone, in groups or not, get
    /// an address around them. It is not checked whether it makes codes.
    ///
    /// - Parameters:
    ///   - text: What is shown.
    ///   - label: The name in an address that is made.
    /// - Returns: `nil` if the text has another form.
    package static func address(of text: Secret, label: String) throws(CofferError) -> Secret? {
        try text.withBytes { (bytes) throws(CofferError) -> Secret? in
            let all = bytes.trimmed(bytes.textStart..<bytes.byteCount)
            if bytes.beginsIgnoringCase("otpauth://", at: all.lowerBound) {
                return all.count == bytes.byteCount ? text : try Secret(copying: bytes.extracting(all))
            }
            if bytes.beginsIgnoringCase("steam://", at: all.lowerBound) {
                let key = all.dropFirst(8)
                return try address(key: bytes.extracting(key), kind: "totp", label: label, "&encoder=steam")
            }
            if let (key, kind, parameters) = bytes.keeOtp(all) {
                return try address(key: bytes.extracting(key), kind: kind, label: label, parameters)
            }
            return bytes.isKey(all) ? try address(key: bytes.extracting(all), kind: "totp", label: label, "") : nil
        }
    }

    /// The address of a key in base32.
    ///
    /// - Parameters:
    ///   - kind: `totp` or `hotp`.
    ///   - parameters: Further parameters, each beginning with `&`.
    package static func address(
        key: RawSpan,
        kind: String,
        label: String,
        _ parameters: String
    ) throws(CofferError) -> Secret {
        let start = Array("otpauth://\(kind)/\(escaped(label.isEmpty ? "key" : label))?secret=".utf8)
        let rest = Array(parameters.utf8)
        return try Secret(capacity: start.count + key.byteCount + rest.count) { (output) throws(CofferError) in
            output.append(start)
            for place in 0..<key.byteCount {
                let byte = key.byte(at: place)
                if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-") || byte == .equals { continue }
                let isSmall = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                output.append(isSmall ? byte - 32 : byte)
            }
            output.append(rest)
        }
    }

    /// Text for the path of an address.
    package static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                byte < 0x80
                && (scalar.properties.isAlphabetic || (48...57).contains(byte) || "-._~@:".utf8.contains(byte))
            let digits = String(byte, radix: 16, uppercase: true)
            result += isPlain ? String(scalar) : "%" + (digits.count < 2 ? "0" : "") + digits
        }
    }

    /// An address of counted codes with another counter.
    package static func address(_ address: Secret, counter: UInt64) throws(CofferError) -> Secret {
        try address.withBytes { (bytes) throws(CofferError) in
            let all = bytes.trimmed(0..<bytes.byteCount)
            guard let place = bytes.queryItems(all).first(where: { $0.name == "counter" })?.value else {
                return address
            }
            return try replaced(place, of: bytes, by: Array(String(counter).utf8))
        }
    }

    /// A secret whose line with an address has another one.
    ///
    /// - Returns: `nil` if no line is an address.
    package static func content(_ content: Secret, replacingLineBy address: Secret) throws(CofferError) -> Secret? {
        try content.withBytes { (bytes) throws(CofferError) -> Secret? in
            guard let line = bytes.line(beginningWith: "otpauth://") else { return nil }
            return try Secret(capacity: bytes.byteCount - line.count + address.count) { (output) throws(CofferError) in
                output.append(bytes.extracting(0..<line.lowerBound))
                address.withBytes { output.append($0) }
                output.append(bytes.extracting(line.upperBound..<bytes.byteCount))
            }
        }
    }

    /// The field of a secret that has the address.
    package static func field(in content: Secret) -> String? {
        let names = SecretFields(content)?.names ?? []
        return fields.first { names.contains($0) }
    }

    private static func replaced(_ range: Range<Int>, of bytes: RawSpan, by text: [UInt8]) throws(CofferError) -> Secret
    {
        try Secret(capacity: bytes.byteCount - range.count + text.count) { (output) throws(CofferError) in
            output.append(bytes.extracting(0..<range.lowerBound))
            output.append(text)
            output.append(bytes.extracting(range.upperBound..<bytes.byteCount))
        }
    }
}

extension RawSpan {
    /// Whether a part is a key in base32, as a site shows it: in groups, in letters of either case.
    fileprivate func isKey(_ range: Range<Int>) -> Bool {
        var count = 0
        for place in range {
            switch byte(at: place) {
            case UInt8(ascii: " "), UInt8(ascii: "-"), .equals: break
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "2")...UInt8(ascii: "7"):
                count += 1
            default: return false
            }
        }
        return count >= 8
    }

    /// The key and the parameters of the form of KeeOtp.
    ///
    /// What it does not know it passes on, so that it is refused with the address.
    fileprivate func keeOtp(_ range: Range<Int>) -> (key: Range<Int>, kind: String, parameters: String)? {
        guard beginsIgnoringCase("key=", at: range.lowerBound) else { return nil }
        var (key, kind, parameters) = (range.lowerBound..<range.lowerBound, "totp", "")
        var hasCounter = false
        for (name, value) in items(range) {
            let text = text(value)
            switch name {
            case "key" where key.isEmpty: key = value
            case "step": parameters += "&period=\(text)"
            case "size": parameters += "&digits=\(text)"
            case "otphashmode": parameters += "&algorithm=\(text)"
            case "counter":
                hasCounter = true
                parameters += "&counter=\(text)"
            case "encoding" where text.lowercased() == "base32": break
            case "type" where text.lowercased() == "totp": break
            case "type" where text.lowercased() == "hotp": kind = "hotp"
            case "type" where text.lowercased() == "steam": parameters += "&encoder=steam"
            default: parameters += "&\(name)=\(text)"
            }
        }
        if kind == "hotp" && !hasCounter { parameters += "&counter=0" }
        return (key, kind, parameters)
    }
}
