package import CofferDatabase

extension AuditLog {
    /// The tables of the audit: every change of them is a migration after these.
    package static let migrations = [
        Migration(
            name: "audit",
            sql: """
                CREATE TABLE audit_blocks (first INTEGER PRIMARY KEY, sealed BLOB NOT NULL, chain BLOB NOT NULL) STRICT;
                CREATE TABLE audit_head (
                    only INTEGER PRIMARY KEY CHECK (only = 1),
                    sealed BLOB NOT NULL
                ) STRICT;
                """
        )
    ]
}
