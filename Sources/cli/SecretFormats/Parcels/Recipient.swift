package import CofferClient
internal import CofferCrypto
internal import CofferMemory

/// The public half of the pair to which items are sent, as people hand it on.
package struct Recipient: Equatable, Sendable {
    private static let prefix = "coffer-recipient-1:"
    private static let checkBytes = 4

    /// The X25519 public key.
    package let publicKey: [UInt8]

    /// - Parameter publicKey: 32 bytes.
    package init(publicKey: [UInt8]) { self.publicKey = publicKey }

    /// Reads the text of a recipient; white space around it, and lines that begin with '#', are ignored.
    ///
    /// - Throws: `param` if it is none, or was mistyped.
    package init(_ text: String) throws(CofferError) {
        let lines = text.withoutByteOrderMark.split(whereSeparator: \.isNewline).map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        let words = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard words.count == 1, words[0].hasPrefix(Self.prefix),
            let bytes = Base64.decode(String(words[0].dropFirst(Self.prefix.count))),
            bytes.count == KeyAgreement.publicKeyBytes + Self.checkBytes
        else {
            throw CofferError(
                .param,
                "this is no recipient: one line that begins with '\(Self.prefix)' was expected",
                hint: "the other side prints it with 'coffer receive --recipient'"
            )
        }
        publicKey = Array(bytes.prefix(KeyAgreement.publicKeyBytes))
        guard try Array(bytes.suffix(Self.checkBytes)) == Self.check(publicKey) else {
            throw CofferError(
                .param,
                "this recipient was mistyped or cut: its checksum is wrong",
                hint: "copy all of the line that 'coffer receive --recipient' prints there"
            )
        }
    }

    /// The line that is handed on.
    package func text() throws(CofferError) -> String {
        Self.prefix + Base64.encode(publicKey + (try Self.check(publicKey)))
    }

    private static func check(_ publicKey: [UInt8]) throws(CofferError) -> [UInt8] {
        do {
            // Nothing of this is secret: it finds mistakes.
            guard let key = SymmetricKey(try SecretBytes(zeros: SymmetricKey.byteCount)) else { return [] }
            let tag = KeyedHash.tag(under: key, for: "coffer recipient checksum v1", byteCount: 16, publicKey)
            return Array(tag.prefix(checkBytes))
        } catch {
            throw .noSecretMemory
        }
    }
}
