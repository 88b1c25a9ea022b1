package import CofferCore
internal import CofferCrypto

/// The fields of an X.509 certificate by which the keychain finds it.
///
/// Neither the validity of the certificate nor its issuer is checked. The parser is the daemon's own, and strict:
/// swift-asn1 links FoundationEssentials, which would add 7.4 MB to the daemon.
package struct Certificate: Sendable {
    /// The encoding of every certificate here, as in `kSecAttrCertificateEncoding`: `CSSM_CERT_ENCODING_DER`.
    package static let encoding: Int64 = 3

    /// The version of X.509, 1 to 3, as in `kSecAttrCertificateType`: `CSSM_CERT_X_509v1` and on.
    package let certificateType: Int64
    /// The name of the issuer, as the bytes in DER.
    package let issuer: [UInt8]
    /// The name of the subject, as the bytes in DER; `30 00` if it is empty.
    package let subject: [UInt8]
    /// The serial number: a signed big-endian integer, as the bytes in the certificate.
    package let serialNumber: [UInt8]
    /// The key identifier in the extension of that name, if there is one.
    package let subjectKeyID: [UInt8]?
    /// The object identifier of the public key's algorithm, such as `1.3.101.112`.
    package let publicKeyAlgorithm: String
    /// The type of the public key, if the daemon can use it.
    package let keyType: KeyType?
    /// The public key, as in the BIT STRING: 32 raw bytes if ``keyType`` is known.
    package let publicKey: [UInt8]
    /// The value that it shares with its private key: 32 bytes, from ``CofferCrypto/publicKeyHash(of:)``.
    package let publicKeyHash: [UInt8]

    /// Parses a certificate.
    ///
    /// - Parameter der: One certificate in DER, and nothing after it.
    /// - Throws: `dataTooLarge` above ``Limits/secretBytes``; `param` if it is not a certificate, with the reason.
    package init(der: RawSpan) throws(CofferError) {
        guard der.byteCount <= Limits.secretBytes else {
            throw CofferError(
                .dataTooLarge,
                "the certificate has \(der.byteCount) bytes, and the limit is \(Limits.secretBytes)",
                hint: "give one certificate, without its chain"
            )
        }
        do { try self.init(checking: der) } catch {
            throw CofferError(
                .param,
                "the certificate can't be read: \(error.finding)",
                hint: "give one X.509 certificate in DER: 'openssl x509 -outform DER' writes it"
            )
        }
    }

    /// The attributes of an item that are derived from the certificate.
    package var attributes: [KeychainAttribute: AttributeValue] {
        var attributes: [KeychainAttribute: AttributeValue] = [
            .certificateType: .integer(certificateType),
            .certificateEncoding: .integer(Self.encoding),
            .issuer: .bytes(issuer),
            .subject: .bytes(subject),
            .serialNumber: .bytes(serialNumber),
            .publicKeyHash: .bytes(publicKeyHash),
        ]
        if let subjectKeyID { attributes[.subjectKeyID] = .bytes(subjectKeyID) }
        return attributes
    }

    private init(checking der: RawSpan) throws(DERError) {
        typealias Tag = DERElement.Tag
        guard der.byteCount > 0 else { throw DERError("there are no bytes") }
        guard der.byte(at: 0) != UInt8(ascii: "-") else { throw DERError("it is PEM and not DER") }

        var text = DERReader(0..<der.byteCount)
        let certificate = try text.next(Tag.sequence, "the certificate", in: der)
        try text.finish("the input")
        try certificate.checkElements(in: der)
        var parts = DERReader(certificate.content)
        let signed = try parts.next(Tag.sequence, "what is signed", in: der)
        let algorithm = try parts.next(Tag.sequence, "the signature's algorithm", in: der)
        let signature = try parts.next(Tag.bitString, "the signature", in: der)
        try parts.finish("the certificate")
        _ = try signature.bitStringBytes(in: der, "the signature")

        var fields = DERReader(signed.content)
        let version = try Self.version(&fields, in: der)
        serialNumber = try fields.next(Tag.integer, "the serial number", in: der)
            .integerBytes(in: der, "the serial number")
        let signedAlgorithm = try fields.next(Tag.sequence, "the signature's algorithm", in: der)
        guard der.copy(signedAlgorithm.whole) == der.copy(algorithm.whole) else {
            throw DERError("the algorithm of the signature is not the one that is signed")
        }
        _ = try Self.algorithm(algorithm, in: der)
        issuer = try Self.name(fields.next(Tag.sequence, "the issuer", in: der), in: der)
        try Self.checkValidity(fields.next(Tag.sequence, "the validity", in: der), in: der)
        subject = try Self.name(fields.next(Tag.sequence, "the subject", in: der), in: der)
        let key = try Self.key(fields.next(Tag.sequence, "the subject's key", in: der), in: der)
        publicKeyAlgorithm = key.algorithm
        keyType = key.type
        publicKey = key.bytes
        publicKeyHash = CofferCrypto.publicKeyHash(of: key.bytes)

        if version >= 2 {
            _ = try fields.nextIfPresent(Tag.field(1, isConstructed: false), in: der)
            _ = try fields.nextIfPresent(Tag.field(2, isConstructed: false), in: der)
        }
        var extensions: DERElement?
        if version == 3 { extensions = try fields.nextIfPresent(Tag.field(3, isConstructed: true), in: der) }
        try fields.finish("what is signed")
        subjectKeyID = try extensions.flatMap { field throws(DERError) in try Self.subjectKeyID(in: field, of: der) }
        certificateType = Int64(version)
    }

    private static func version(_ fields: inout DERReader, in der: RawSpan) throws(DERError) -> UInt8 {
        let tag = DERElement.Tag.field(0, isConstructed: true)
        guard let field = try fields.nextIfPresent(tag, in: der) else { return 1 }
        var reader = DERReader(field.content)
        let number = try reader.next(DERElement.Tag.integer, "the version", in: der)
        try reader.finish("the version")
        let value = try number.integerBytes(in: der, "the version")
        // Version 1 must be omitted.
        guard value == [1] || value == [2] else { throw DERError("it has a version that X.509 has not") }
        return value[0] + 1
    }

    /// Parses an AlgorithmIdentifier: its identifier, and whether it has parameters.
    private static func algorithm(
        _ element: DERElement,
        in der: RawSpan
    ) throws(DERError) -> (name: String, hasParameters: Bool) {
        var reader = DERReader(element.content)
        let name = try reader.next(DERElement.Tag.objectIdentifier, "an algorithm", in: der).objectIdentifier(in: der)
        let hasParameters = !reader.isAtEnd
        if hasParameters { _ = try reader.next(in: der) }
        try reader.finish("an algorithm")
        return (name, hasParameters)
    }

    /// Checks a Name: sets of pairs of an object identifier and a value.
    private static func name(_ element: DERElement, in der: RawSpan) throws(DERError) -> [UInt8] {
        var parts = DERReader(element.content)
        while !parts.isAtEnd {
            let part = try parts.next(DERElement.Tag.set, "a part of a name", in: der)
            var pairs = DERReader(part.content)
            repeat {
                var pair = DERReader(try pairs.next(DERElement.Tag.sequence, "a part of a name", in: der).content)
                _ = try pair.next(DERElement.Tag.objectIdentifier, "a part of a name", in: der)
                    .objectIdentifier(in: der)
                _ = try pair.next(in: der)
                try pair.finish("a part of a name")
            } while !pairs.isAtEnd
        }
        return der.copy(element.whole)
    }

    private static func checkValidity(_ element: DERElement, in der: RawSpan) throws(DERError) {
        var reader = DERReader(element.content)
        for _ in 0..<2 {
            let place = reader.place
            let time = try reader.next(in: der)
            guard [DERElement.Tag.utcTime, DERElement.Tag.generalizedTime].contains(time.tag) else {
                throw DERError("at byte \(place): the validity has a value that is not a time")
            }
        }
        try reader.finish("the validity")
    }

    private static func key(
        _ element: DERElement,
        in der: RawSpan
    ) throws(DERError) -> (algorithm: String, type: KeyType?, bytes: [UInt8]) {
        var reader = DERReader(element.content)
        let algorithm = try reader.next(DERElement.Tag.sequence, "the algorithm of the subject's key", in: der)
        let bits = try reader.next(DERElement.Tag.bitString, "the subject's key", in: der)
        try reader.finish("the subject's key")
        let (name, hasParameters) = try Self.algorithm(algorithm, in: der)
        let bytes = der.copy(try bits.bitStringBytes(in: der, "the subject's key"))
        let type: KeyType? =
            switch name {
            case "1.3.101.112": .ed25519
            case "1.3.101.110": .x25519
            default: nil
            }
        if let type {
            guard bytes.count == KeyType.keyBytes, !hasParameters else {
                throw DERError("the subject's key is not a key of \(type.rawValue)")
            }
        }
        return (name, type, bytes)
    }

    /// Checks every extension, because a list that is malformed after the identifier must not be accepted.
    private static func subjectKeyID(in field: DERElement, of der: RawSpan) throws(DERError) -> [UInt8]? {
        typealias Tag = DERElement.Tag
        var outer = DERReader(field.content)
        let list = try outer.next(Tag.sequence, "the extensions", in: der)
        try outer.finish("the extensions")
        var extensions = DERReader(list.content)
        var seen: Set<String> = []
        var found: [UInt8]?
        repeat {
            var parts = DERReader(try extensions.next(Tag.sequence, "an extension", in: der).content)
            let name = try parts.next(Tag.objectIdentifier, "an extension's name", in: der).objectIdentifier(in: der)
            guard seen.insert(name).inserted else { throw DERError("it has the extension \(name) twice") }
            if let critical = try parts.nextIfPresent(Tag.boolean, in: der) {
                // An extension is not critical by default, and DER omits the default.
                guard der.copy(critical.content) == [0xFF] else {
                    throw DERError("at byte \(critical.whole.lowerBound): a truth value that DER has not")
                }
            }
            let value = try parts.next(Tag.octetString, "an extension's value", in: der)
            try parts.finish("an extension")
            if name == "2.5.29.14" {
                var inner = DERReader(value.content)
                let identifier = try inner.next(Tag.octetString, "the subject's key identifier", in: der)
                try inner.finish("the subject's key identifier")
                found = der.copy(identifier.content)
            }
        } while !extensions.isAtEnd
        return found
    }
}

extension RawSpan {
    fileprivate func byte(at place: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: place, as: UInt8.self) }
}
