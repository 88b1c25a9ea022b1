package import CofferCore

/// The format that content is recognised as, if no kind is stated.
///
/// A format is recognised by bytes that it prescribes, at the places that it prescribes: text that merely mentions a
/// key is not one. The raw value appears on the wire.
package enum ContentSignature: String, CaseIterable, Sendable {
    /// PEM that contains a private or public key.
    case pemKey
    /// PEM with certificates, and no key.
    case pemCertificate
    /// DER of X.509.
    case derCertificate
    /// A public key on a line, as OpenSSH writes it, or a key of PuTTY or age.
    case keyLine
    /// JSON Web Token: three or five parts, the first of which is a JSON object.
    case jsonWebToken
    /// SQLite.
    case sqlite
    /// PNG, JPEG, GIF, WebP, TIFF, BMP, HEIF, AVIF or JPEG XL.
    case image
    /// ZIP, gzip, bzip2, xz, zstd, 7z, RAR, tar, cpio or ar.
    case archive
    /// PDF, or a document of an older office program.
    case document

    /// The kind that the matrix assumes.
    package var kind: ItemKind {
        switch self {
        case .pemKey, .keyLine: .key
        case .pemCertificate, .derCertificate: .certificate
        case .jsonWebToken: .token
        case .sqlite: .database
        case .image: .image
        case .archive, .document: .document
        }
    }

    /// The format, for a sentence.
    package var words: String {
        switch self {
        case .pemKey: "a key in PEM"
        case .pemCertificate: "a certificate in PEM"
        case .derCertificate: "a certificate in DER"
        case .keyLine: "a key in a line of text"
        case .jsonWebToken: "a JSON Web Token"
        case .sqlite: "a SQLite database"
        case .image: "an image"
        case .archive: "an archive"
        case .document: "a document"
        }
    }

    /// Examines content in place: a copy of a secret would have to be wiped.
    ///
    /// - Parameters:
    ///   - bytes: The content, or the beginning of it.
    ///   - isWhole: Whether that is all of it: keys, certificates and tokens are recognised by their end as well.
    /// - Returns: `nil` if no format is recognised.
    package init?(of bytes: RawSpan, isWhole: Bool) {
        let start = bytes.textStart
        let bytes = Span<UInt8>(_bytes: bytes)
        if let magic = Self.magic(bytes) {
            self = magic
        } else if isWhole, let text = Self.text(bytes.extracting(droppingFirst: start)) {
            self = text
        } else {
            return nil
        }
    }

    private static func text(_ bytes: Span<UInt8>) -> ContentSignature? {
        if bytes.isCertificate { return .derCertificate }
        let text = bytes.extracting(bytes.trimmedRange)
        if text.isEmpty { return nil }
        return pem(text) ?? (isKeyLine(text) ? .keyLine : text.isJSONWebToken ? .jsonWebToken : nil)
    }

    // MARK: Magic numbers

    private static func magic(_ bytes: Span<UInt8>) -> ContentSignature? {
        if bytes.has("SQLite format 3\0") { return .sqlite }
        if isImage(bytes) { return .image }
        if bytes.has("%PDF-") || bytes.has([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) { return .document }
        return isArchive(bytes) ? .archive : nil
    }

    private static func isImage(_ bytes: Span<UInt8>) -> Bool {
        if bytes.has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) || bytes.has([0xFF, 0xD8, 0xFF]) {
            return true
        }
        if bytes.has("GIF87a") || bytes.has("GIF89a") || bytes.has("II*\0") || bytes.has([0x4D, 0x4D, 0x00, 0x2A]) {
            return true
        }
        if bytes.has("RIFF") && bytes.has("WEBP", at: 8) { return true }
        // Two letters prove little: the reserved fields of the header are zero, and its length is one of a few.
        if bytes.has("BM") && bytes.has([0, 0, 0, 0], at: 6) && bytes.has([0, 0, 0], at: 15) { return true }
        // Only JPEG XL in its container: the two bytes without it may begin a random key.
        if bytes.has([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]) { return true }
        let brands = ["heic", "heix", "hevc", "mif1", "msf1", "avif", "avis"]
        return bytes.has("ftyp", at: 4) && brands.contains { bytes.has($0, at: 8) }
    }

    private static func isArchive(_ bytes: Span<UInt8>) -> Bool {
        let magics: [[UInt8]] = [
            [0x50, 0x4B, 0x03, 0x04], [0x50, 0x4B, 0x05, 0x06], [0x1F, 0x8B, 0x08],
            [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00],
            [0x28, 0xB5, 0x2F, 0xFD], [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], [0x52, 0x61, 0x72, 0x21, 0x1A, 0x07],
        ]
        if magics.contains(where: { bytes.has($0) }) { return true }
        if bytes.has("BZh") && bytes.has([0x31, 0x41, 0x59, 0x26, 0x53, 0x59], at: 4) { return true }
        return bytes.has("ustar", at: 257) || bytes.has("070701") || bytes.has("!<arch>\n")
    }

    // MARK: Text

    /// PEM: blocks from the first line to the last, after the text that OpenSSL may write before them.
    private static func pem(_ text: Span<UInt8>) -> ContentSignature? {
        let beginning = "-----BEGIN "
        guard text.has(beginning) || text.has("Bag Attributes") || text.has("Certificate:"),
            text.extracting(last: 5).has("-----")
        else { return nil }
        var found: ContentSignature?
        var isEnded = false
        var lineStart = 0
        for index in text.indices where text[index] == UInt8(ascii: "\n") || index == text.count - 1 {
            let line = text.extracting(lineStart..<index + 1)
            lineStart = index + 1
            isEnded = line.has("-----END ")
            guard line.has(beginning) else { continue }
            if line.contains(" KEY") { found = .pemKey }
            if line.contains("CERTIFICATE-----") { found = found ?? .pemCertificate }
        }
        return isEnded ? found : nil
    }

    private static func isKeyLine(_ text: Span<UInt8>) -> Bool {
        if text.has("PuTTY-User-Key-File-") { return true }
        let isOneLine = !text.contains("\n")
        let names = [
            "ssh-ed25519 AAAA", "ssh-rsa AAAA", "ecdsa-sha2-nistp256 AAAA", "ecdsa-sha2-nistp384 AAAA",
            "ecdsa-sha2-nistp521 AAAA", "sk-ssh-ed25519@openssh.com AAAA",
            "sk-ecdsa-sha2-nistp256@openssh.com AAAA",
        ]
        if isOneLine && names.contains(where: { text.has($0) }) { return true }
        // age-keygen writes comments before it.
        let isAge = text.has("AGE-SECRET-KEY-1") || text.has("# created: ") && text.contains("\nAGE-SECRET-KEY-1")
        return isAge
    }
}

extension Span<UInt8> {
    fileprivate func has(_ text: String, at offset: Int = 0) -> Bool { has(Array(text.utf8), at: offset) }

    /// Whether some bytes are at a place.
    fileprivate func has(_ wanted: [UInt8], at offset: Int = 0) -> Bool {
        guard offset + wanted.count <= count else { return false }
        for index in wanted.indices where self[offset + index] != wanted[index] { return false }
        return true
    }

    fileprivate func contains(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard wanted.count <= count else { return false }
        for offset in 0...(count - wanted.count) where has(wanted, at: offset) { return true }
        return false
    }

    /// The range without leading and trailing white space.
    fileprivate var trimmedRange: Range<Int> {
        var range = 0..<count
        while let first = range.first, self[first].isWhiteSpace { range.removeFirst() }
        while let last = range.last, self[last].isWhiteSpace { range.removeLast() }
        return range
    }

    /// Whether it is the DER of a certificate: a sequence of exactly this length that begins with two more, the second
    /// of them with a version or a serial number.
    fileprivate var isCertificate: Bool {
        guard count > 128, self[0] == 0x30, self[1] == 0x82, Int(self[2]) << 8 | Int(self[3]) == count - 4 else {
            return false
        }
        return has([0x30, 0x82], at: 4) && (has([0xA0, 0x03, 0x02, 0x01], at: 8) || self[8] == 0x02)
    }

    /// Whether it is a token in the compact form of RFC 7515 or RFC 7516.
    fileprivate var isJSONWebToken: Bool {
        // The beginning of an object, `{"`, in base64url.
        guard has("eyJ") else { return false }
        var dots = 0
        for index in indices {
            switch self[index] {
            case UInt8(ascii: "."): dots += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                continue
            default: return false
            }
        }
        return dots == 2 || dots == 4
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
