internal import CofferClient
package import CofferCrypto
internal import Glibc

/// What a certificate says of itself, as text.
///
/// Nothing of it is verified.
package struct CertificateText {
    private typealias Tag = DERElement.Tag

    let subject: String
    let issuer: String
    /// In milliseconds since 1970.
    package let notBefore: Int64
    package let notAfter: Int64
    /// With their kinds, such as `DNS:example.org`.
    package let alternativeNames: [String]
    /// SHA-256 of the certificate.
    package let fingerprint: [UInt8]

    /// Reads a certificate, which the daemon has checked.
    package init(_ der: RawSpan) throws(DERError) {
        var outer = DERReader(0..<der.byteCount)
        var certificate = DERReader(try outer.next(Tag.sequence, "the certificate", in: der).content)
        var fields = DERReader(try certificate.next(Tag.sequence, "what is signed", in: der).content)
        _ = try fields.nextIfPresent(Tag.field(0, isConstructed: true), in: der)
        _ = try fields.next(Tag.integer, "the serial number", in: der)
        _ = try fields.next(Tag.sequence, "the signature's algorithm", in: der)
        issuer = try DistinguishedName.text(fields.next(Tag.sequence, "the issuer", in: der), in: der)
        var validity = DERReader(try fields.next(Tag.sequence, "the validity", in: der).content)
        notBefore = try Self.milliseconds(validity.next(in: der), in: der)
        notAfter = try Self.milliseconds(validity.next(in: der), in: der)
        subject = try DistinguishedName.text(fields.next(Tag.sequence, "the subject", in: der), in: der)
        var names: [String] = []
        while !fields.isAtEnd {
            let field = try fields.next(in: der)
            if field.tag == Tag.field(3, isConstructed: true) {
                names = try AlternativeNames.texts(field, in: der)
            }
        }
        alternativeNames = names
        fingerprint = sha256(der.copy(0..<der.byteCount))
    }

    /// A time: two or four digits of the year, then the others, in UTC.
    private static func milliseconds(_ time: DERElement, in der: RawSpan) throws(DERError) -> Int64 {
        let digits = String(decoding: der.copy(time.content), as: UTF8.self)
        let isShort = time.tag == Tag.utcTime
        guard digits.count == (isShort ? 13 : 15), digits.last == "Z",
            let year = Int(digits.prefix(isShort ? 2 : 4))
        else { throw DERError("a time of the validity is malformed") }
        // RFC 5280, section 4.1.2.5.1.
        let century = isShort ? (year < 50 ? "20" : "19") : ""
        guard let seconds = GregorianTime.secondsInUTC(century + digits.dropLast()) else {
            throw DERError("a time of the validity does not exist")
        }
        return seconds * 1000
    }
}

/// The name of a subject or an issuer.
package enum DistinguishedName {
    private static let names = [
        "2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L",
        "2.5.4.8": "ST",
        "2.5.4.9": "street", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title", "2.5.4.42": "GN",
        "2.5.4.43": "initials", "1.2.840.113549.1.9.1": "emailAddress",
        "0.9.2342.19200300.100.1.25": "DC",
        "0.9.2342.19200300.100.1.1": "UID",
    ]

    /// The text of a name in DER, such as an attribute has; `nil` if it is none.
    package static func text(_ der: [UInt8]) -> String? {
        unsafe der.withUnsafeBytes { bytes in
            let der = unsafe bytes.bytes
            var outer = DERReader(0..<der.byteCount)
            return try? text(outer.next(DERElement.Tag.sequence, "the name", in: der), in: der)
        }
    }

    /// The text, in the order of the certificate, as `openssl` writes it: `C=DE, O=Example, CN=example.org`.
    static func text(_ name: DERElement, in der: RawSpan) throws(DERError) -> String {
        typealias Tag = DERElement.Tag
        var parts: [String] = []
        var sets = DERReader(name.content)
        while !sets.isAtEnd {
            var pairs = DERReader(try sets.next(Tag.set, "a part of a name", in: der).content)
            var texts: [String] = []
            while !pairs.isAtEnd {
                var pair = DERReader(try pairs.next(Tag.sequence, "a part of a name", in: der).content)
                let kind = try pair.next(Tag.objectIdentifier, "a part of a name", in: der)
                    .objectIdentifier(in: der)
                texts.append("\(names[kind] ?? kind)=\(try pair.next(in: der).textOfName(in: der))")
            }
            parts.append(texts.joined(separator: " + "))
        }
        return parts.joined(separator: ", ")
    }
}

/// The names in the extension of that name.
enum AlternativeNames {
    private typealias Tag = DERElement.Tag

    /// The names in the extensions of a certificate.
    static func texts(_ field: DERElement, in der: RawSpan) throws(DERError) -> [String] {
        var outer = DERReader(field.content)
        var extensions = DERReader(try outer.next(Tag.sequence, "the extensions", in: der).content)
        while !extensions.isAtEnd {
            var parts = DERReader(try extensions.next(Tag.sequence, "an extension", in: der).content)
            let name = try parts.next(Tag.objectIdentifier, "an extension's name", in: der)
                .objectIdentifier(in: der)
            _ = try parts.nextIfPresent(Tag.boolean, in: der)
            guard name == "2.5.29.17" else { continue }
            var value = DERReader(
                try parts.next(Tag.octetString, "an extension's value", in: der).content
            )
            var names = DERReader(try value.next(Tag.sequence, "the alternative names", in: der).content)
            var texts: [String] = []
            while !names.isAtEnd { texts.append(try text(names.next(in: der), in: der)) }
            return texts
        }
        return []
    }

    private static func text(_ name: DERElement, in der: RawSpan) throws(DERError) -> String {
        let bytes = der.copy(name.content)
        let words = String(decoding: bytes, as: UTF8.self).escapedInName
        switch name.tag & 0x1F {
        case 1: return "email:\(words)"
        case 2: return "DNS:\(words)"
        case 4:
            var inner = DERReader(name.content)
            let directory = try inner.next(Tag.sequence, "a directory's name", in: der)
            return "directory:\(try DistinguishedName.text(directory, in: der))"
        case 6: return "URI:\(words)"
        case 7: return "IP:\(address(bytes) ?? hexadecimal(bytes))"
        case 8: return "ID:\(try name.objectIdentifier(in: der))"
        default: return "other:\(hexadecimal(bytes))"
        }
    }

    private static func address(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard unsafe inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension DERElement {
    /// The text of a value in a name: of one of the types of strings, otherwise its DER.
    fileprivate func textOfName(in der: RawSpan) -> String {
        let bytes = der.copy(content)
        switch tag {
        case 0x0C, 0x12, 0x13, 0x16, 0x1A: return String(decoding: bytes, as: UTF8.self).escapedInName
        case 0x14:
            return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).escapedInName
        case 0x1E where bytes.count % 2 == 0:
            let units = stride(from: 0, to: bytes.count, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            return String(decoding: units, as: UTF16.self).escapedInName
        default: return "#\(hexadecimal(der.copy(whole)))"
        }
    }
}

extension String {
    /// The text with a backslash where it could be taken for the end of a name: RFC 4514, section 2.4.
    fileprivate var escapedInName: String {
        var text = ""
        for (place, character) in unicodeScalars.enumerated() {
            let isEdge = place == 0 || place == unicodeScalars.count - 1
            if ",+\"\\<>;".unicodeScalars.contains(character) || character == " " && isEdge
                || character == "#" && place == 0
            {
                text += "\\"
            }
            text.unicodeScalars.append(character)
        }
        return text
    }
}
