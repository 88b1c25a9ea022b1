internal import CofferClient
internal import CofferMemory

/// Base32 of RFC 4648, without padding, as keys of one-time codes are written.
enum Base32 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func encoded(_ value: Secret) throws(CofferError) -> Secret {
        var output = try SecretBuffer(capacity: value.count * 8 / 5 + 1)
        try value.withBytes { (bytes) throws(CofferError) in
            var (bits, count) = (UInt32(0), 0)
            for place in 0..<bytes.byteCount {
                bits = bits << 8 | UInt32(bytes.byte(at: place))
                count += 8
                while count >= 5 {
                    count -= 5
                    try output.append(letters[Int(bits >> UInt32(count) & 31)])
                }
            }
            if count > 0 { try output.append(letters[Int(bits << UInt32(5 - count) & 31)]) }
        }
        return try output.finish()
    }

    /// - Returns: `nil` if it is not hexadecimal.
    static func encoded(hex value: Secret) throws(CofferError) -> Secret? {
        var output = try SecretBuffer(capacity: value.count)
        let isValid = try value.withBytes { (bytes) throws(CofferError) -> Bool in
            let digits = (0..<bytes.byteCount).filter { !bytes.byte(at: $0).isSpace }
            guard digits.count % 2 == 0 else { return false }
            for index in stride(from: 0, to: digits.count, by: 2) {
                let (high, low) = (bytes.byte(at: digits[index]).hexValue, bytes.byte(at: digits[index + 1]).hexValue)
                guard let high, let low else { return false }
                try output.append(high << 4 | low)
            }
            return true
        }
        return isValid ? try encoded(try output.finish()) : nil
    }

    /// - Returns: `nil` if it is not base64.
    static func encoded(base64 value: Secret) throws(CofferError) -> Secret? {
        let decoded = value.withBytes { bytes -> Secret? in
            do { return Secret(try Base64.decode(bytes)) } catch { return nil }
        }
        guard let decoded else { return nil }
        return try encoded(decoded)
    }
}

extension UInt8 {
    fileprivate var hexValue: UInt8? {
        switch self {
        case 48...57: self - 48
        case 65...70: self - 55
        case 97...102: self - 87
        default: nil
        }
    }
}
