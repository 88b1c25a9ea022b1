import CofferCore
import CofferCrypto
import CofferDatabase
import CofferKeys
import CofferMemory

/// A sealed value of a row, as FORMATS.md has it: what it is sealed under, and what it is bound to.
struct SealedColumn: Sendable {
    private let select: StaticString
    private let update: StaticString
    /// The key, by its place in the catalog's keys.
    private let key: Key
    private let context: @Sendable (borrowing Row, VaultKeys) throws -> [UInt8]

    private enum Key {
        case accessRules, audit
        /// What the passcode protects, most of it.
        case names(CatalogPart)
    }

    static let all: [SealedColumn] = [
        SealedColumn(
            select:
                "SELECT id, metadata, uuid, class_key, primary_tag FROM keychain_items ORDER BY id LIMIT 1 OFFSET ?",
            update: "UPDATE keychain_items SET metadata = ? WHERE id = ?",
            key: .names(.keychain)
        ) { row, _ in
            Array("coffer keychain metadata v1".utf8) + (try row.blob(2)) + [
                UInt8(truncatingIfNeeded: try row.integer(3))
            ]
                + (try row.blob(4))
        },
        SealedColumn(
            select: """
                SELECT number, sealed, reason, owner, node, time, bytes FROM past WHERE reason = 1 AND entry IS NULL
                ORDER BY number LIMIT 1 OFFSET ?
                """,
            update: "UPDATE past SET sealed = ? WHERE number = ?",
            key: .names(.past)
        ) { row, _ in
            var writer = ByteWriter()
            writer.write(raw: "coffer past v1".utf8)
            writer.write(try row.integer(0))
            for column in [2, 4, 5, 6] { writer.write(try row.optionalInteger(column) ?? 0) }
            writer.write(raw: try row.blob(3))
            return writer.bytes
        },
        SealedColumn(
            select: """
                SELECT id, metadata, parent, name_tag, kind, class_key, content, wrapped_key, target FROM file_nodes
                ORDER BY id LIMIT 1 OFFSET ?
                """,
            update: "UPDATE file_nodes SET metadata = ? WHERE id = ?",
            key: .names(.files)
        ) { row, _ in
            var writer = ByteWriter()
            writer.write(raw: "coffer file metadata v1".utf8)
            writer.write(try row.integer(0))
            writer.write(try row.integer(2))
            writer.write(raw: try row.blob(3))
            writer.write(UInt8(truncatingIfNeeded: try row.integer(4)))
            writer.write(UInt8(truncatingIfNeeded: try row.integer(5)))
            writer.write(raw: try row.optionalBlob(6) ?? [])
            writer.write(counted: try row.blob(7))
            if let target = try row.optionalInteger(8) { writer.write(target) }
            return writer.bytes
        },
        SealedColumn(
            select: "SELECT first, sealed FROM audit_blocks ORDER BY first LIMIT 1 OFFSET ?",
            update: "UPDATE audit_blocks SET sealed = ? WHERE first = ?",
            key: .names(.audit)
        ) { row, keys in Array("coffer audit block v1".utf8) + keys.vaultID.bytes + bytes(of: try row.integer(0)) },
        SealedColumn(
            select: "SELECT only, sealed FROM audit_head LIMIT 1 OFFSET ?",
            update: "UPDATE audit_head SET sealed = ? WHERE only = ?",
            key: .audit
        ) { _, keys in Array("coffer audit head v1".utf8) + keys.vaultID.bytes },
        SealedColumn(
            select: "SELECT number, sealed FROM access_rules ORDER BY number LIMIT 1 OFFSET ?",
            update: "UPDATE access_rules SET sealed = ? WHERE number = ?",
            key: .accessRules
        ) { row, _ in Array("coffer access rule v1".utf8) + bytes(of: try row.integer(0)) },
    ]

    private static func bytes(of number: Int64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(number)
        return writer.bytes
    }

    /// Opens the value, and seals another one in its place.
    func change(_ row: Int64, in catalog: RowCatalog, _ body: ([UInt8]) -> [UInt8]) throws {
        let keys = catalog.keys
        let found = try catalog.connection.row(select, .integer(row)) { row in
            let context = try self.context(row, keys)
            let sealed = try row.blob(1)
            let changed: [UInt8]
            switch self.key {
            case .accessRules: changed = try Self.reseal(sealed, keys.catalog.accessRules, context, body)
            case .audit: changed = try Self.reseal(sealed, keys.catalog.audit, context, body)
            case .names(let part):
                let names = try keys.openNames(sealed.span.bytes, of: part, context: context).exposeBytes()
                changed = try keys.sealNames(
                    body(names).span.bytes,
                    of: part,
                    context: context,
                    inEveryState: sealed.first == 0
                )
            }
            return (try row.integer(0), changed)
        }
        guard let (number, changed) = found else { return }
        try catalog.connection.execute(update, .blob(changed), .integer(number))
    }

    private static func reseal(
        _ sealed: [UInt8],
        _ key: borrowing SymmetricKey,
        _ context: [UInt8],
        _ body: ([UInt8]) -> [UInt8]
    ) throws -> [UInt8] {
        let plaintext = try AEAD.open(sealed.span.bytes, under: key, context: context).exposeBytes()
        return AEAD.seal(body(plaintext).span.bytes, under: key, context: context)
    }
}
