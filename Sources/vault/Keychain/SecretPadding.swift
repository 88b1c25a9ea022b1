internal import CofferCore
internal import CofferMemory

/// Hides the length of a secret before it is sealed: a length before it, zeros after it.
enum SecretPadding {
    private static let countBytes = 4

    /// The padded length: steps of 64 bytes for short secrets, of an eighth of the next power of two for long ones.
    static func paddedCount(_ count: Int) -> Int {
        let needed = count + countBytes
        var step = 64
        while step * 8 < needed { step *= 2 }
        return (needed + step - 1) / step * step
    }

    static func pad(_ secret: borrowing SecretBytes) throws(SecretMemoryError) -> SecretBytes {
        var padded = try SecretBytes(zeros: paddedCount(secret.count))
        let count = UInt32(secret.count)
        unsafe padded.withUnsafeMutableBytes { unsafe $0.storeBytes(of: count.bigEndian, as: UInt32.self) }
        secret.withBytes { padded.copy($0, to: countBytes) }
        return padded
    }

    /// - Returns: The secret; `nil` if the length is invalid.
    static func unpad(_ padded: borrowing SecretBytes) throws(SecretMemoryError) -> SecretBytes? {
        try padded.withBytes { (bytes) throws(SecretMemoryError) -> SecretBytes? in
            guard bytes.byteCount >= countBytes else { return nil }
            let count = Int(UInt32(bigEndian: unsafe bytes.unsafeLoad(as: UInt32.self)))
            guard count <= bytes.byteCount - countBytes else { return nil }
            return try SecretBytes(copying: bytes.extracting(countBytes..<(countBytes + count)))
        }
    }
}
