package import CofferCore
internal import CofferCrypto
internal import CofferSystem

/// The end of the audit when the lock state last changed, stored in a file beside the keybag.
///
/// The file is written after the catalog: after a crash the anchor may lag behind the catalog, but is never ahead of
/// it. So a catalog whose audit ends before the anchor is an older one.
package struct CatalogAnchor: Equatable, Sendable {
    static let fileName = "anchor"
    private static let magic = Array("COFFERAN".utf8)
    private static let version: UInt16 = 1
    private static let tagBytes = 32
    /// The bytes of a link of the audit.
    private static let linkBytes = 32
    private static let byteCount = magic.count + 2 + 8 + linkBytes + tagBytes

    /// The number of the next record.
    package let nextRecord: Int64
    /// The link of the last block.
    package let link: [UInt8]

    package init(nextRecord: Int64, link: [UInt8]) {
        self.nextRecord = nextRecord
        self.link = link
    }

    /// The result of reading the file.
    package enum Reading: Equatable, Sendable {
        /// The file does not exist.
        case missing
        /// The file can't be read, or was not written for this vault.
        case damaged
        /// The file was written for this vault.
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

    /// The key belongs to the vault, so that the anchor stays valid when the vault gets the device key of another
    /// machine.
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
        // One byte more, so that a longer file is detected.
        guard let bytes = try? keys.directory.contents(of: fileName, limit: byteCount + 1) else {
            return keys.directory.contains(fileName) ? .damaged : .missing
        }
        return CatalogAnchor(decoding: bytes, keys).map { .found($0) } ?? .damaged
    }
}

extension VaultKeys {
    /// Reads the anchor.
    package func readAnchor() -> CatalogAnchor.Reading { CatalogAnchor.load(self) }

    /// Stores the anchor: when this returns, it survives a power cut.
    ///
    /// - Parameter anchor: The end of the audit, which is on the disk already.
    package func store(_ anchor: CatalogAnchor) throws(CofferError) {
        do {
            unsafe try directory.replace(CatalogAnchor.fileName, with: anchor.encoded(self).span.bytes)
        } catch {
            throw error.cofferError("can't store the file 'anchor'")
        }
    }
}
