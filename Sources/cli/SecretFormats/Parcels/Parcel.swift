package import CofferClient
internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// One item, sealed to the recipient of another vault.
///
/// The format is in proto-docs/FORMATS.md. Anyone who has the recipient can make a parcel: it does not say who sent it.
package struct Parcel: Sendable {
    private static let magic = Array("COFFERPL".utf8)
    private static let version: UInt16 = 1
    private static let headBytes = 42
    private static let purpose: StaticString = "coffer parcel wrap v1"
    /// The greatest size of a parcel.
    package static let greatestByteCount =
        headBytes + KeyAgreement.wrappedBytes + 4 + Limits.parcelDescriptionBytes + Limits.parcelContentBytes
        + 2 * AEAD.overhead

    /// The recipient to which it is sealed.
    package let recipient: Recipient
    private let head: [UInt8]
    private let wrappedKey: [UInt8]
    private let description: [UInt8]
    private let content: [UInt8]

    /// The public key with which the recipient's private key makes the shared secret that opens it.
    package var ephemeralKey: [UInt8] { KeyAgreement.ephemeralKey(of: wrappedKey) }

    /// The bytes of the parcel.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.greatestByteCount)
        writer.write(raw: head + wrappedKey)
        writer.write(UInt32(description.count))
        writer.write(raw: description)
        writer.write(raw: content)
        return writer.bytes
    }

    // MARK: Sealing

    /// Seals an item.
    ///
    /// - Parameters:
    ///   - content: Its content.
    ///   - said: What is said of it.
    ///   - recipient: Who can open it.
    /// - Throws: `dataTooLarge`; `param` if nothing can be sealed to the recipient.
    package init(_ content: Secret, _ said: ParcelDescription, to recipient: Recipient) throws(CofferError) {
        let described = said.encoded
        guard content.count <= Limits.parcelContentBytes, described.count <= Limits.parcelDescriptionBytes else {
            throw CofferError(
                .dataTooLarge,
                "\(said.name.quoted) is too large to be sent: a parcel holds up to \(Limits.parcelContentBytes) bytes",
                hint: "encrypt a large file to a key that you send"
            )
        }
        self.recipient = recipient
        head = Self.head(recipient)
        do {
            let key = try Self.newKey()
            let wrapped = try KeyAgreement.wrap(
                key,
                to: recipient.publicKey,
                for: Self.purpose,
                context: Self.keyContext(head)
            )
            let sealed = unsafe AEAD.seal(
                described.span.bytes,
                under: key,
                context: Self.descriptionContext(head + wrapped)
            )
            let context = Self.contentContext(head + wrapped, sealed)
            wrappedKey = wrapped
            description = sealed
            self.content = content.withBytes { AEAD.seal($0, under: key, context: context) }
        } catch {
            if error == .noMemory { throw .noSecretMemory }
            throw CofferError(.param, "nothing can be sealed to this recipient: its key is of low order")
        }
    }

    private static func newKey() throws(CryptoError) -> SymmetricKey {
        do { return try SymmetricKey() } catch { throw .noMemory }
    }

    private static func descriptionContext(_ place: [UInt8]) -> [UInt8] {
        Array("coffer parcel description v1".utf8) + place
    }

    private static func head(_ recipient: Recipient) -> [UInt8] {
        var writer = ByteWriter(capacity: headBytes)
        writer.write(raw: magic)
        writer.write(version)
        writer.write(raw: recipient.publicKey)
        return writer.bytes
    }

    private static func keyContext(_ head: [UInt8]) -> [UInt8] { Array("coffer parcel key v1".utf8) + head }

    private static func contentContext(_ place: [UInt8], _ description: [UInt8]) -> [UInt8] {
        // The tag of the description: the two parts of two parcels can't be exchanged.
        Array("coffer parcel content v1".utf8) + place + description.suffix(16)
    }

    // MARK: Opening

    /// Reads the outside of a parcel.
    ///
    /// - Parameters:
    ///   - bytes: Its bytes.
    ///   - subject: What it is called, for an error.
    /// - Throws: `decode` if it is none, of a newer version, or cut.
    package init(_ bytes: [UInt8], _ subject: String) throws(CofferError) {
        do {
            guard bytes.count <= Self.greatestByteCount else { throw ByteReader.Malformed() }
            var reader = ByteReader(bytes)
            guard Array(try reader.readRaw(Self.magic.count)) == Self.magic else {
                throw CofferError(.decode, "\(subject) is no parcel of Coffer")
            }
            guard try reader.read(UInt16.self) == Self.version else {
                throw CofferError(
                    .decode,
                    "\(subject) is a parcel of a newer version",
                    hint: "bring this Coffer up to date"
                )
            }
            recipient = Recipient(publicKey: Array(try reader.readRaw(KeyAgreement.publicKeyBytes)))
            head = Array(bytes.prefix(Self.headBytes))
            wrappedKey = Array(try reader.readRaw(KeyAgreement.wrappedBytes))
            description = Array(try reader.readRaw(Int(try reader.read(UInt32.self))))
            let begin = Self.headBytes + wrappedKey.count + 4 + description.count
            content = Array(bytes[begin...])
            guard description.count >= AEAD.overhead, content.count >= AEAD.overhead,
                description.count - AEAD.overhead <= Limits.parcelDescriptionBytes,
                content.count - AEAD.overhead <= Limits.parcelContentBytes
            else { throw ByteReader.Malformed() }
        } catch let error as CofferError {
            throw error
        } catch {
            throw Self.damaged(subject, "it was cut, or is too long")
        }
    }

    /// Opens a parcel.
    ///
    /// - Parameters:
    ///   - shared: The secret that the private key shares with ``ephemeralKey``.
    ///   - subject: What it is called, for an error.
    /// - Returns: What is said of the item, and its content.
    /// - Throws: `decode` if it was changed.
    package func open(
        sharing shared: Secret,
        _ subject: String
    ) throws(CofferError) -> (description: ParcelDescription, content: Secret) {
        do {
            let key = try KeyAgreement.unwrap(
                wrappedKey,
                sharing: try shared.withBytes { try SecretBytes(copying: $0) },
                of: recipient.publicKey,
                for: Self.purpose,
                context: Self.keyContext(head)
            )
            let place = head + wrappedKey
            let said = try unsafe AEAD.open(
                description.span.bytes,
                under: key,
                context: Self.descriptionContext(place)
            )
            let opened = try unsafe AEAD.open(
                content.span.bytes,
                under: key,
                context: Self.contentContext(place, description)
            )
            return (try ParcelDescription(decoding: said.exposeBytes()), Secret(opened))
        } catch CryptoError.unauthentic {
            throw Self.damaged(subject, "it was changed, or is not for the key of this vault")
        } catch is ByteReader.Malformed {
            throw Self.damaged(subject, "what it says of the item has an unknown form")
        } catch {
            throw .noSecretMemory
        }
    }

    private static func damaged(_ subject: String, _ finding: String) -> CofferError {
        CofferError(.decode, "can't open \(subject): \(finding)", hint: "have it sent again")
    }
}
