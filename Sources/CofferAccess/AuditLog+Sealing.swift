internal import CofferCore
internal import CofferCrypto
internal import CofferKeys
internal import CofferMemory

// Sealed data is bound to its vault and its place, and each block to all blocks before it.
extension AuditLog {
    static func beginning(_ keys: VaultKeys) -> [UInt8] {
        KeyedHash.tag(
            under: keys.catalog.audit,
            for: "coffer audit beginning v1",
            byteCount: AuditHead.chainBytes,
            keys.vaultID.bytes
        )
    }

    static func link(_ chain: [UInt8], _ first: Int64, _ sealed: [UInt8], _ keys: VaultKeys) -> [UInt8] {
        KeyedHash.tag(
            under: keys.catalog.audit,
            for: "coffer audit link v1",
            byteCount: AuditHead.chainBytes,
            chain,
            numberBytes(first),
            sealed
        )
    }

    static func headContext(_ keys: VaultKeys) -> [UInt8] {
        Array("coffer audit head v1".utf8) + keys.vaultID.bytes
    }

    static func witnessContext(_ keys: VaultKeys) -> [UInt8] {
        Array("coffer audit end v1".utf8) + keys.vaultID.bytes
    }

    static func blockContext(_ first: Int64, _ keys: VaultKeys) -> [UInt8] {
        Array("coffer audit block v1".utf8) + keys.vaultID.bytes + numberBytes(first)
    }

    private static func numberBytes(_ number: Int64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(number)
        return writer.bytes
    }

    static func seal(_ bytes: [UInt8], _ context: [UInt8], _ keys: VaultKeys) -> [UInt8] {
        unsafe AEAD.seal(bytes.span.bytes, under: keys.catalog.audit, context: context)
    }

    static func open(_ sealed: [UInt8], _ context: [UInt8], _ keys: VaultKeys) throws -> [UInt8] {
        try unsafe AEAD.open(sealed.span.bytes, under: keys.catalog.audit, context: context).exposeBytes()
    }
}
