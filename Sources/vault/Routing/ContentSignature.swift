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
        if let magic = Self.magics.first(where: { $0.value.contains { bytes.begins(as: $0) } }) {
            self = magic.key
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

    /// The beginnings of formats: each character is a byte, and `▯` any byte.
    private static let magics: KeyValuePairs<ContentSignature, [String]> = [
        .sqlite: ["SQLite format 3\0"],
        .image: [
            "\u{89}PNG\r\n\u{1A}\n", "\u{FF}\u{D8}\u{FF}", "GIF87a", "GIF89a", "II*\0", "MM\0*", "RIFF▯▯▯▯WEBP",
            // Two letters prove little: the reserved fields of the header are zero, and its length is one of a few.
            "BM▯▯▯▯\0\0\0\0▯▯▯▯▯\0\0\0",
            // Only JPEG XL in its container: the two bytes without it may begin a random key.
            "\0\0\0\u{C}JXL \r\n\u{87}\n", "▯▯▯▯ftypheic", "▯▯▯▯ftypheix", "▯▯▯▯ftyphevc", "▯▯▯▯ftypmif1",
            "▯▯▯▯ftypmsf1", "▯▯▯▯ftypavif", "▯▯▯▯ftypavis",
        ],
        .document: ["%PDF-", "\u{D0}\u{CF}\u{11}\u{E0}\u{A1}\u{B1}\u{1A}\u{E1}"],
        .archive: [
            "PK\u{3}\u{4}", "PK\u{5}\u{6}", "\u{1F}\u{8B}\u{8}", "\u{FD}7zXZ\0", "(\u{B5}/\u{FD}",
            "7z\u{BC}\u{AF}'\u{1C}", "Rar!\u{1A}\u{7}", "BZh▯1AY&SY", "070701", "!<arch>\n",
            String(repeating: "▯", count: 257) + "ustar",
        ],
    ]

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
    fileprivate func has(_ text: String, at offset: Int = 0) -> Bool {
        let utf8 = text.utf8
        return has(utf8.span, at: offset)
    }

    fileprivate func has(_ bytes: [UInt8], at offset: Int) -> Bool { has(bytes.span, at: offset) }

    /// Whether some bytes are at a place.
    private func has(_ wanted: Span<UInt8>, at offset: Int) -> Bool {
        guard offset + wanted.count <= count else { return false }
        for index in wanted.indices where self[offset + index] != wanted[index] { return false }
        return true
    }

    /// Whether it begins with a pattern of `magics`.
    fileprivate func begins(as pattern: String) -> Bool {
        var index = 0
        for wanted in pattern.unicodeScalars {
            guard index < count, wanted == "▯" || wanted.value == UInt32(self[index]) else { return false }
            index += 1
        }
        return true
    }

    fileprivate func contains(_ text: String) -> Bool {
        let utf8 = text.utf8
        let wanted = utf8.span
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
