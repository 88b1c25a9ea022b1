package import CofferCore
internal import CofferCrypto
internal import CofferKeys
internal import CofferMemory

// Sealed data is bound to its vault and its place, and each block to all blocks before it. The blocks, which name items,
// are under the passcode. The head and the end of the audit name none, and are under the device key alone, as the chain
// is: it can be verified before the first unlock.
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

    /// Seals a block under the passcode.
    static func sealBlock(_ bytes: [UInt8], _ first: Int64, _ keys: VaultKeys) throws(CofferError) -> [UInt8] {
        do throws(KeyError) {
            return try unsafe keys.sealNames(bytes.span.bytes, of: .audit, context: blockContext(first, keys))
        } catch {
            throw error.cofferError("the audit", in: keys.state, for: .write)
        }
    }

    static func openBlock(_ sealed: [UInt8], _ first: Int64, _ keys: VaultKeys) throws(KeyError) -> [UInt8] {
        try unsafe keys.openNames(sealed.span.bytes, of: .audit, context: blockContext(first, keys)).exposeBytes()
    }

    /// What stands for the name of an item where the name itself must not be: equal for the same item of this vault.
    package func tag(of item: AuditedItem) -> String? {
        item.name.map { name in
            KeyedHash.tag(
                under: keys.catalog.search,
                for: "coffer journal tag v1",
                byteCount: 16,
                Array((item.group ?? "").utf8),
                Array(name.utf8)
            ).prefix(8)
        }.map { hexadecimal($0) }
    }

    static func seal(_ bytes: [UInt8], _ context: [UInt8], _ keys: VaultKeys) -> [UInt8] {
        unsafe AEAD.seal(bytes.span.bytes, under: keys.catalog.audit, context: context)
    }

    static func open(_ sealed: [UInt8], _ context: [UInt8], _ keys: VaultKeys) throws -> [UInt8] {
        try unsafe AEAD.open(sealed.span.bytes, under: keys.catalog.audit, context: context).exposeBytes()
    }
}
