internal import CofferCore
internal import CofferDatabase
internal import CofferKeys

// Blocks of older versions are under the device key alone. After the first unlock, they are sealed again under the
// passcode.
//
// Their links stay as they were, and with them the head, the end of the audit and the anchor: instead of the link, a tag
// under the device key says that the block continues the chain. A block whose link was wrong gets a tag that is wrong, so
// that each verification still finds it.
extension AuditLog {
    /// Whether a block is under the device key alone.
    package var hasUntagged: Bool {
        get throws {
            try connection.row("SELECT 1 FROM audit_blocks WHERE tag IS NULL LIMIT 1") { _ in true } ?? false
        }
    }

    /// Seals some blocks of an older version again, under the passcode.
    ///
    /// It is called in a transaction: each slice is complete, or was not done.
    ///
    /// - Parameter limit: The maximum number of blocks.
    /// - Returns: Whether more remain.
    /// - Throws: ``DatabaseError``.
    package func sealUnderPasscode(limit: Int = Limits.auditPageBlocks) throws -> Bool {
        guard keys.opensNames else { return false }
        var untagged: [StoredBlock] = []
        var byteCount = 0
        try connection.rows("SELECT first, sealed, chain, tag FROM audit_blocks WHERE tag IS NULL ORDER BY first") {
            row in
            untagged.append(try StoredBlock(row))
            byteCount += untagged[untagged.count - 1].sealed.count
            return untagged.count < limit && byteCount < Limits.auditBlockBytes * 8
        }
        for block in untagged { try sealAgain(block) }
        return try hasUntagged
    }

    private func sealAgain(_ block: StoredBlock) throws {
        let link = try connection.row(
            "SELECT chain FROM audit_blocks WHERE first < ? ORDER BY first DESC LIMIT 1",
            .integer(block.first)
        ) { try $0.blob(0) }
        let chain = link ?? head.anchor
        let opened: [UInt8]
        do throws(KeyError) { opened = try Self.openBlock(block.sealed, block.first, keys) } catch {
            if error == .noMemory { throw CofferError.noSecretMemory }
            // No key opens a damaged block: it stays as it is.
            return try replace(block, with: block.sealed, tag: [])
        }
        let sealed = try Self.sealBlock(opened, block.first, keys)
        let tag = Self.resealTag(chain, block.first, sealed, block.chain, keys)
        try replace(block, with: sealed, tag: isLinked(block, to: chain) ? tag : tag.map { ~$0 })
    }

    private func replace(_ block: StoredBlock, with sealed: [UInt8], tag: [UInt8]) throws {
        try connection.execute(
            "UPDATE audit_blocks SET sealed = ?, tag = ? WHERE first = ?",
            .blob(sealed),
            .blob(tag),
            .integer(block.first)
        )
    }
}
