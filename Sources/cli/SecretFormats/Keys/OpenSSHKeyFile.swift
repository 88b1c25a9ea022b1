internal import CofferClient
internal import CofferCrypto
internal import CofferMemory

/// Writes a private key in the format of OpenSSH's `PROTOCOL.key`, not encrypted: what ``OpenSSHKey`` reads.
struct OpenSSHKeyFile {
    /// A field of the private part.
    private enum Field {
        /// A string that is no secret.
        case string([UInt8])
        /// A number of the stored form.
        case number(Range<Int>)
        /// The seed of Ed25519, followed by the public key.
        case seed(publicKey: [UInt8])
    }

    /// The public part.
    private let published: [UInt8]
    private let fields: [Field]

    /// Finds the parts of a key.
    ///
    /// - Parameters:
    ///   - stored: The key in its stored form.
    ///   - type: Its type.
    /// - Throws: `param` for a type that OpenSSH does not have; `decode` if the bytes are no key of the type.
    init(_ stored: RawSpan, _ type: StoredKeyType) throws(CofferError) {
        switch type {
        case .ed25519: try self.init(seed: stored)
        case .x25519: throw CofferError(.param, "OpenSSH has no keys of x25519", hint: "use --format pkcs8")
        case .rsa, .ecdsa:
            do throws(DERError) {
                self.init(try EncodedKey(stored), stored)
            } catch {
                throw CofferError(.decode, "the key is not of its type: \(error.finding)", hint: "use --format raw")
            }
        }
    }

    private init(seed: RawSpan) throws(CofferError) {
        do {
            guard let key = try SigningKey(seed: SecretBytes(copying: seed)) else {
                throw CofferError(.decode, "the key is not of its type", hint: "use --format raw")
            }
            let name = Array("ssh-ed25519".utf8)
            published = name.string + key.publicKey.string
            fields = [.string(name), .string(key.publicKey), .seed(publicKey: key.publicKey)]
        } catch let error as CofferError { throw error } catch { throw .noSecretMemory }
    }

    private init(_ key: EncodedKey, _ stored: RawSpan) {
        let numbers = key.numbers
        guard let curve = key.algorithm.opensshCurve else {
            let name = Array("ssh-rsa".utf8)
            // n, e, d, p, q, d mod p-1, d mod q-1, 1/q mod p.
            published = name.string + stored.copy(numbers[1]).number + stored.copy(numbers[0]).number
            fields = [.string(name)] + [0, 1, 2, 7, 3, 4].map { .number(numbers[$0]) }
            return
        }
        let (name, curveName) = (Array("ecdsa-sha2-\(curve)".utf8), Array(curve.utf8))
        published = name.string + curveName.string + key.publicKey.string
        fields = [.string(name), .string(curveName), .string(key.publicKey), .number(numbers[0])]
    }

    /// Writes the file, without the lines of PEM.
    ///
    /// - Parameters:
    ///   - stored: The bytes that it was created with.
    ///   - comment: The comment.
    func write(_ stored: RawSpan, comment: String) throws(CofferError) -> Secret {
        let comment = Array(comment.utf8)
        let capacity = stored.byteCount + published.count + comment.count + 256
        let inside = try Secret(capacity: capacity) { (output) throws(CofferError) in
            // The same number twice tells whether a passphrase was right: there is none.
            let check = Int(UInt32.random(in: 0 ... .max)).bigEndian32
            output.append(check + check)
            for field in fields { Self.append(field, of: stored, to: &output) }
            output.append(comment.string)
            let padding = (8 - output.byteCount % 8) % 8
            output.append((0..<padding).map { UInt8($0 + 1) })
        }
        let none = Array("none".utf8)
        let front =
            Array("openssh-key-v1\0".utf8) + none.string + none.string + [UInt8]().string + 1.bigEndian32
            + published.string + inside.count.bigEndian32
        return try Secret(capacity: front.count + inside.count) { (output) throws(CofferError) in
            output.append(front)
            inside.withBytes { output.append($0) }
        }
    }

    private static func append(_ field: Field, of stored: RawSpan, to output: inout OutputRawSpan) {
        switch field {
        case .string(let bytes): output.append(bytes.string)
        case .number(let place):
            let digits = place.drop { stored.byte(at: $0) == 0 }
            let needsZero = digits.first.map { stored.byte(at: $0) >= 0x80 } ?? false
            output.append((digits.count + (needsZero ? 1 : 0)).bigEndian32 + (needsZero ? [0] : []))
            output.append(stored.extracting(digits.startIndex..<digits.endIndex))
        case .seed(let publicKey):
            output.append((stored.byteCount + publicKey.count).bigEndian32)
            output.append(stored)
            output.append(publicKey)
        }
    }
}

extension EncodedKey.Algorithm {
    /// The name that OpenSSH has for the curve; `nil` for RSA.
    fileprivate var opensshCurve: String? {
        switch self {
        case .rsa: nil
        case .p256: "nistp256"
        case .p384: "nistp384"
        }
    }
}

// The data types of SSH: RFC 4251, section 5.

extension Int {
    fileprivate var bigEndian32: [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}

extension [UInt8] {
    /// The bytes as a string.
    fileprivate var string: [UInt8] { count.bigEndian32 + self }

    /// Digits that do not begin with 0 as a number that is not negative.
    fileprivate var number: [UInt8] { (first ?? 0 >= 0x80 ? [0] + self : self).string }
}
