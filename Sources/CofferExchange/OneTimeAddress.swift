internal import CofferClient

/// The address of one-time codes that Coffer's `otp` reads.
enum OneTimeAddress {
    /// Turns what other programs keep into an address: an address stays, a bare key in base32 gets one around it.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - label: The title of the entry, which is part of the address.
    /// - Returns: `nil` if it is neither.
    static func address(_ value: Secret, label: String) throws(CofferError) -> Secret? {
        let value = try value.trimmed()
        if value.withBytes({ $0.has("otpauth://", at: 0) }) { return value }
        guard let key = try key(value) else { return nil }
        return try address(key: key, label: label, parameters: "")
    }

    /// The address of a key.
    ///
    /// - Parameter parameters: Further parameters, each beginning with `&`.
    static func address(key: Secret, label: String, parameters: String) throws(CofferError) -> Secret {
        var output = try SecretBuffer(capacity: key.count + label.utf8.count + 64)
        try output.append("otpauth://totp/\(escaped(label))?secret=")
        try output.append(key)
        try output.append(parameters)
        return try output.finish()
    }

    /// A key in base32 without the spaces in which it is shown.
    private static func key(_ value: Secret) throws(CofferError) -> Secret? {
        var output = try SecretBuffer(capacity: value.count)
        let isKey = try value.withBytes { (bytes) throws(CofferError) -> Bool in
            for place in 0..<bytes.byteCount {
                let byte = bytes.byte(at: place)
                switch byte {
                case UInt8(ascii: " "), UInt8(ascii: "-"): continue
                case UInt8(ascii: "a")...UInt8(ascii: "z"): try output.append(byte - 32)
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "2")...UInt8(ascii: "7"), UInt8(ascii: "="):
                    try output.append(byte)
                default: return false
                }
            }
            return output.count >= 8
        }
        return isKey ? try output.finish() : nil
    }

    /// Text for the path of an address.
    static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                byte < 0x80 && (scalar.properties.isAlphabetic || byte.isDigit || "-._~@:".utf8.contains(byte))
            let digits = String(byte, radix: 16, uppercase: true)
            result += isPlain ? String(scalar) : "%" + (digits.count < 2 ? "0" : "") + digits
        }
    }
}

extension ExchangeEntry {
    /// Appends what an entry has for one-time codes: as the field `otp`, or, if `coffer otp` can't use it, as another one.
    mutating func addOneTimeKey(_ value: Secret?) throws(CofferError) {
        guard let value, value.count > 0 else { return }
        if let address = try OneTimeAddress.address(value, label: title) {
            try add(Self.otp, address)
        } else {
            try add("otp key", value)
        }
    }

    /// Appends addresses of sites: the first one as `url`.
    mutating func addURLs(_ urls: [Secret]) throws(CofferError) { for url in urls { try add(Self.url, url) } }

    /// The host of the first address, for an entry without a title.
    var host: String? {
        guard let url = self[Self.url]?.exposeText() else { return nil }
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.split(separator: "@").last.map(String.init) ?? ""
        return host.isEmpty ? nil : host
    }
}
