internal import CofferClient
internal import CofferSecretFormats
internal import CofferCrypto
internal import CofferCommandSupport
internal import CofferTerminal

/// The lines of a certificate for people.
struct CertificateLines {
    private let attributes: [KeychainAttribute: AttributeValue]
    /// `nil` if the certificate can't be read now.
    private let text: CertificateText?

    /// Reads a certificate, if the state of the vault and the caller's rights allow it, and without a question.
    ///
    /// - Returns: `nil` if the item is none.
    init?(of item: ItemInfo, named name: ItemName, _ client: BlockingClient) throws(CofferError) {
        guard item.itemClass == .certificate else { return nil }
        attributes = item.attributes ?? [:]
        guard item.isReadable, !item.isLeftBehind, item.accessControl == nil else {
            text = nil
            return
        }
        do throws(CofferError) {
            let content = try client.call(ItemGetParameters(name: name, group: item.group)).payload
            text = content.withBytes { try? CertificateText($0) }
        } catch {
            guard error.code == .interactionNotAllowed || error.code == .missingEntitlement else {
                throw error
            }
            text = nil
        }
    }

    /// The lines: before the certificate can be read those that its attributes tell.
    var lines: [(label: String, value: Line?)] {
        let names = text?.alternativeNames.joined(separator: ", ") ?? ""
        return [
            ("subject", name(.subject)), ("also for", names.isEmpty ? nil : "\(name: names)"),
            ("issuer", name(.issuer)),
            ("valid from", text.map { Self.time($0.notBefore, $0.notBefore > Moment.now ? " (not yet)" : "") }),
            ("valid until", text.map { Self.time($0.notAfter, $0.notAfter < Moment.now ? " (it has ended)" : "") }),
            ("serial number", bytes(.serialNumber)),
            ("fingerprint", text.map { "SHA-256 \(Self.hexadecimal($0.fingerprint))" }),
            ("subject key ID", bytes(.subjectKeyID)), ("public key hash", bytes(.publicKeyHash)),
        ]
    }

    private static func time(_ milliseconds: Int64, _ note: String) -> Line {
        "\(Timestamp.text(milliseconds))\(note)"
    }

    private func name(_ attribute: KeychainAttribute) -> Line? {
        guard case .bytes(let der) = attributes[attribute], let text = DistinguishedName.text(der)
        else { return nil }
        return text.isEmpty ? "(empty)" : "\(name: text)"
    }

    private func bytes(_ attribute: KeychainAttribute) -> Line? {
        guard case .bytes(let bytes) = attributes[attribute] else { return nil }
        // A serial number is a signed integer: a zero may come first.
        let digits = attribute == .serialNumber && bytes.count > 1 && bytes[0] == 0 ? Array(bytes.dropFirst()) : bytes
        return "\(Self.hexadecimal(digits))"
    }

    /// As `openssl` writes fingerprints: `0A:1B`.
    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { CofferCore.hexadecimal([$0]).uppercased() }.joined(separator: ":")
    }
}
