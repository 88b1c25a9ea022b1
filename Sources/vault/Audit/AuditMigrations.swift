package import CofferDatabase

extension AuditLog {
    /// The migrations of the audit, in their order.
    ///
    /// Never edited: a change is a new migration.
    package static let migrations = [
        Migration(
            name: "audit: blocks and head",
            generation: 7,
            sql: """
                CREATE TABLE audit_blocks (first INTEGER PRIMARY KEY, sealed BLOB NOT NULL, chain BLOB NOT NULL) STRICT;
                CREATE TABLE audit_head (
                    only INTEGER PRIMARY KEY CHECK (only = 1),
                    sealed BLOB NOT NULL
                ) STRICT;
                """
        ),
        Migration(
            name: "audit: blocks under the passcode",
            generation: 10,
            // Without a tag: sealed under the device key alone, as every block was.
            sql: """
                ALTER TABLE audit_blocks ADD COLUMN tag BLOB;
                CREATE INDEX audit_blocks_untagged ON audit_blocks (first) WHERE tag IS NULL;
                """
        ),
    ]
}
