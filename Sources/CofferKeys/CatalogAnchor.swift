package import CofferCore
internal import CofferCrypto
internal import CofferSystem

/// How far the audit had come when the lock state changed last, kept in a file beside the keybag.
///
/// The file is written after the catalog: a crash leaves one that the catalog has passed already, and never one that it has
/// yet to reach. So a catalog that has not come as far is an older one.
package struct CatalogAnchor: Equatable, Sendable {
    static let fileName = "anchor"
    private static let magic = Array("COFFERAN".utf8)
    private static let version: UInt16 = 1
    private static let tagBytes = 32
    /// The bytes of a link of the audit.
    private static let linkBytes = 32
    private static let byteCount = magic.count + 2 + 8 + linkBytes + tagBytes

    /// The number of the record that came next.
    package let nextRecord: Int64
    /// The link of the block before it.
    package let link: [UInt8]

    /// Notes where the audit ends.
    package init(nextRecord: Int64, link: [UInt8]) {
        self.nextRecord = nextRecord
        self.link = link
    }

    /// What the file says.
    package enum Reading: Equatable, Sendable {
        /// There is none.
        case missing
        /// It can't be read, or was not written for this vault.
        case damaged
        /// It was written for this vault.
        case found(CatalogAnchor)
    }

    fileprivate func encoded(_ keys: VaultKeys) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(Self.version)
        writer.write(nextRecord)
        writer.write(raw: link)
        return writer.bytes + Self.tag(of: writer.bytes, keys)
    }

    fileprivate init?(decoding bytes: [UInt8], _ keys: VaultKeys) {
        guard bytes.count == Self.byteCount else { return nil }
        let body = Array(bytes.dropLast(Self.tagBytes))
        guard isEqualInConstantTime(Array(bytes.suffix(Self.tagBytes)), Self.tag(of: body, keys)),
            let anchor = try? Self(reading: body)
        else { return nil }
        self = anchor
    }

    private init(reading body: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(body)
        guard try reader.readRaw(Self.magic.count).elementsEqual(Self.magic),
            try reader.read(UInt16.self) == Self.version
        else { throw ByteReader.Malformed() }
        nextRecord = try reader.read()
        link = Array(try reader.readRaw(Self.linkBytes))
        guard nextRecord >= 1 else { throw ByteReader.Malformed() }
    }

    /// The key is the vault's own: the anchor stays valid when the vault gets the device key of another machine.
    private static func tag(of body: [UInt8], _ keys: VaultKeys) -> [UInt8] {
        KeyedHash.tag(
            under: keys.catalog.audit,
            for: "coffer anchor tag v1",
            byteCount: tagBytes,
            keys.vaultID.bytes,
            body
        )
    }

    fileprivate static func load(_ keys: VaultKeys) -> Reading {
        // One byte more than there are, so that a longer file is seen.
        guard let bytes = try? keys.directory.contents(of: fileName, limit: byteCount + 1) else {
            return keys.directory.contains(fileName) ? .damaged : .missing
        }
        return CatalogAnchor(decoding: bytes, keys).map { .found($0) } ?? .damaged
    }
}

extension VaultKeys {
    /// Reads how far the audit had come.
    package func readAnchor() -> CatalogAnchor.Reading { CatalogAnchor.load(self) }

    /// Stores how far the audit has come: when this returns, it outlives a power cut.
    ///
    /// - Parameter anchor: What is on the disk already.
    package func store(_ anchor: CatalogAnchor) throws(CofferError) {
        do {
            unsafe try directory.replace(CatalogAnchor.fileName, with: anchor.encoded(self).span.bytes)
        } catch {
            throw error.cofferError("can't store how far the audit has come")
        }
    }
}
