package import CofferClient
internal import CofferCrypto
internal import CofferMemory

/// What is known of a private key in the keychain, without the key.
package struct PrivateKey {
    private let type: StoredKeyType
    private let comment: String
    private let isOpenSSH: Bool

    /// Reads what a listing says of an item; `nil` if it is no private key of a pair.
    package init?(_ info: ItemInfo) { self.init(info.itemClass, info.attributes, info.user) }

    /// Reads what a query says of an item; `nil` if it is no private key of a pair.
    package init?(_ item: KeychainItemInfo) { self.init(item.itemClass, item.attributes, item.user) }

    private init?(
        _ itemClass: ItemClass?,
        _ attributes: [KeychainAttribute: AttributeValue]?,
        _ user: [AttributeName: String]?
    ) {
        guard itemClass == .key, let attributes, attributes[.keyClass] == .text("private"),
            let type = StoredKeyType.allCases.first(where: { attributes[.keyType] == .text($0.rawValue) })
        else { return nil }
        self.type = type
        comment = user?[AttributeName("comment")] ?? ""
        isOpenSSH = user?[AttributeName("format")] == KeyFormat.openssh.rawValue
    }

    /// The format in which the key was added, if that is known and can be written; else as it is stored.
    package var usualFormat: KeyFormat { isOpenSSH && type != .x25519 ? .openssh : .raw }

    /// Encodes the key.
    ///
    /// - Parameter stored: The key in its stored form.
    /// - Throws: `param` if the format has no keys of that type.
    package func encode(_ stored: Secret, as format: KeyFormat) throws(CofferError) -> Secret {
        switch format {
        case .raw: return stored
        case .pkcs8: return try PEM.write(pkcs8(stored), label: "PRIVATE KEY", lineCharacters: 64)
        case .openssh:
            let file = try stored.withBytes { (bytes) throws(CofferError) in
                try OpenSSHKeyFile(bytes, type).write(bytes, comment: comment)
            }
            return try PEM.write(file, label: "OPENSSH PRIVATE KEY", lineCharacters: 70)
        }
    }

    private func pkcs8(_ stored: Secret) throws(CofferError) -> Secret {
        // The end of an object identifier, 1.3.101.112 or .110; the others are stored so.
        guard let raw = type.raw else { return stored }
        let last: UInt8 = raw == .ed25519 ? 0x70 : 0x6E
        let front: [UInt8] = [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, last, 4, 0x22, 4, 0x20]
        return try Secret(capacity: front.count + stored.count) { (output) throws(CofferError) in
            output.append(front)
            stored.withBytes { output.append($0) }
        }
    }
}

extension PEM {
    /// Writes a text of one block.
    static func write(_ content: Secret, label: String, lineCharacters: Int) throws(CofferError) -> Secret {
        let symbols: Secret
        do {
            symbols = try content.withBytes { (bytes) throws(SecretMemoryError) in Secret(try Base64.encode(bytes)) }
        } catch { throw .noSecretMemory }
        let (first, last) = (Array("-----BEGIN \(label)-----\n".utf8), Array("-----END \(label)-----\n".utf8))
        let capacity = first.count + symbols.count + symbols.count / lineCharacters + 1 + last.count
        return try Secret(capacity: capacity) { (output) throws(CofferError) in
            output.append(first)
            symbols.withBytes { text in
                for start in stride(from: 0, to: text.byteCount, by: lineCharacters) {
                    output.append(text.extracting(start..<min(start + lineCharacters, text.byteCount)))
                    output.append([UInt8(ascii: "\n")])
                }
            }
            output.append(last)
        }
    }
}
