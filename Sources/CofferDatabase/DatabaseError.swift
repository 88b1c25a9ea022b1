internal import CSQLite
package import CofferCore

/// An error of the database.
package struct DatabaseError: Error, Hashable, Sendable {
    /// The kind of error, as far as callers distinguish it.
    package enum Kind: Hashable, Sendable {
        /// Another connection holds the database.
        case busy
        /// No space on the disk, in the quota or under the file-size limit, or no page left under `max_page_count`.
        case full
        /// The file or its file system is read-only.
        case readOnly
        /// The file can't be opened or created, or its path contains a symbolic link.
        case cannotOpen
        /// The system failed to read, write or sync.
        case ioError
        /// The file is not a database of Coffer, or its content is not valid.
        case damaged
        /// The schema has an entry that Coffer did not create.
        case foreign
        /// A constraint of the schema refused the change; `unique` if such a row exists already.
        case constraint(unique: Bool)
        /// The database has migrations that this build does not know.
        case newer
        /// The open transaction was lost, with the changes of all its requests. The code is that of the cause.
        case batchLost
        /// A bug in the calling code, such as a wrong number of bindings.
        case misuse
        /// Anything else; see the code. A statement that SQLite does not understand is this only if the schema is
        /// right; otherwise it is `damaged`.
        case other
    }

    /// The sort of failure.
    package let kind: Kind
    /// SQLite's extended result code.
    package let code: Int32
    /// The message of SQLite or of this room, which names tables and columns, never a value.
    package let message: String
    /// The `errno` of the system call that failed; meaningless if none did.
    package let systemCode: Int32

    init(_ kind: Kind, code: Int32, systemCode: Int32 = 0, _ message: String) {
        self.kind = kind
        self.code = code
        self.systemCode = systemCode
        self.message = message
    }

    init(code: Int32, systemCode: Int32 = 0, _ message: String) {
        let kind = Kind(code: code, systemCode)
        // SQLite's message would wrongly report damage.
        let isMistaken = kind == .ioError && code & 0xFF == SQLITE_CORRUPT
        self.init(kind, code: code, systemCode: systemCode, isMistaken ? "the disk can't be read" : message)
    }

    /// Whether a commit that failed with this error has left nothing on the disk: after a disk error, the log may hold
    /// the transaction.
    package var isCertain: Bool { code & 0xFF != SQLITE_IOERR }

    private var isOfFileSystem: Bool { systemCode == coffer_read_only }

    static func damaged(_ message: String) -> DatabaseError { DatabaseError(.damaged, code: SQLITE_CORRUPT, message) }

    /// An entry of the schema that Coffer did not create.
    static func foreign(_ entry: Schema.Entry) -> DatabaseError {
        DatabaseError(.foreign, code: SQLITE_CORRUPT, "its \(entry.words) is not one of Coffer's")
    }

    static func misuse(_ message: String) -> DatabaseError { DatabaseError(.misuse, code: SQLITE_MISUSE, message) }
}

extension DatabaseError {
    /// Whether SQLite did not understand a statement, or a statement has another meaning with this schema.
    var isOfStatement: Bool { code == SQLITE_ERROR || code == SQLITE_SCHEMA }

    /// The same error as damage of the file.
    var asDamage: DatabaseError { DatabaseError(.damaged, code: code, systemCode: systemCode, message) }
}

extension DatabaseError.Kind {
    // The header defines these as expressions, which are not imported.
    private static let ioErrorShortRead = SQLITE_IOERR | 2 << 8
    private static let ioErrorData = SQLITE_IOERR | 32 << 8
    private static let constraintDataType = SQLITE_CONSTRAINT | 12 << 8
    private static let constraintPrimaryKey = SQLITE_CONSTRAINT | 6 << 8
    private static let constraintUnique = SQLITE_CONSTRAINT | 8 << 8
    private static let constraintRowID = SQLITE_CONSTRAINT | 10 << 8

    init(code: Int32, _ systemCode: Int32) {
        switch (code & 0xFF, systemCode) {
        // SQLite reports a disk that can't be read as damage of the file.
        case (SQLITE_CORRUPT, coffer_input_output_error), (SQLITE_CORRUPT, coffer_no_such_device),
            (SQLITE_CORRUPT, coffer_result_out_of_range):
            self = .ioError
        case (SQLITE_IOERR, coffer_no_room), (SQLITE_IOERR, coffer_no_quota), (SQLITE_IOERR, coffer_file_too_large):
            self = .full
        case (SQLITE_IOERR, coffer_read_only), (SQLITE_CANTOPEN, coffer_read_only): self = .readOnly
        default: self.init(code: code)
        }
    }

    private init(code: Int32) {
        switch code {
        case Self.ioErrorShortRead, Self.ioErrorData: self = .damaged
        // Triggers and copies of rows may carry on a damaged value; values of Coffer have the right type.
        case Self.constraintDataType: self = .damaged
        case Self.constraintPrimaryKey, Self.constraintUnique, Self.constraintRowID: self = .constraint(unique: true)
        default: self.init(primaryCode: code & 0xFF)
        }
    }

    private init(primaryCode: Int32) {
        switch primaryCode {
        case SQLITE_BUSY: self = .busy
        case SQLITE_FULL: self = .full
        case SQLITE_READONLY: self = .readOnly
        case SQLITE_CANTOPEN, SQLITE_PERM: self = .cannotOpen
        case SQLITE_IOERR: self = .ioError
        // A damaged length may be too big; Coffer's own values are far smaller.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_TOOBIG: self = .damaged
        case SQLITE_CONSTRAINT: self = .constraint(unique: false)
        case SQLITE_MISUSE, SQLITE_RANGE: self = .misuse
        default: self = .other
        }
    }
}

extension DatabaseError {
    /// The error as a client sees it.
    package var cofferError: CofferError {
        switch kind {
        case .batchLost:
            // Only the cause tells the client whether there is a remedy; that the request shared a commit with others
            // does not concern it.
            let cause = Kind(code: code, systemCode)
            let kind = cause == .misuse ? .other : cause
            return DatabaseError(kind, code: code, systemCode: systemCode, message).cofferError
        case .busy:
            return CofferError(
                .notAvailable,
                "can't open the vault: another cofferd is using this vault",
                hint: "stop the other cofferd, or give this one a state directory of its own"
            )
        case .newer:
            return CofferError(
                .notAvailable,
                "can't open the vault: it was made by a newer version of Coffer",
                hint: "install that version, or a later one"
            )
        case .full where systemCode == coffer_file_too_large:
            return CofferError(
                .diskFull,
                "can't write to the vault: its database would be larger than the file-size limit allows",
                hint: "raise the limit ('ulimit -f', or LimitFSIZE= of the service) and start cofferd again",
                operation: .write
            )
        case .full where systemCode == coffer_no_quota:
            return CofferError(
                .diskFull,
                "can't write to the vault: the disk quota is exceeded",
                hint: "make room within the quota of cofferd's user and repeat the command",
                operation: .write
            )
        case .full:
            return CofferError(
                .diskFull,
                "can't write to the vault: the disk is full",
                hint: "make room on the disk of the vault and repeat the command",
                operation: .write
            )
        case .readOnly:
            return CofferError(
                .io,
                "can't write to the vault: \(isOfFileSystem ? "its file system is read-only" : "its database can be read only")",
                hint: isOfFileSystem
                    ? "make it writable, or copy the state directory to one that is, and start cofferd again"
                    : "see that cofferd owns its state directory and may write to the files in it",
                operation: .write
            )
        case .cannotOpen:
            return CofferError(
                .io,
                "can't open the vault: its database can't be opened (\(message))",
                hint: "see that cofferd owns its state directory, and that no part of its path is a symbolic link"
            )
        case .ioError:
            return CofferError(
                .io,
                "can't read or write the vault: \(message)",
                hint: "look for errors of the disk in the system's log"
            )
        case .damaged:
            return CofferError(
                .decode,
                "can't read the vault: its database is damaged (\(message))",
                hint: """
                    'coffer doctor' shows what can still be read, and 'coffer doctor --repair' rebuilds indices; restore \
                    'vault.sqlite' from a backup if neither can open it
                    """
            )
        case .foreign:
            return CofferError(
                .decode,
                "can't use the vault: its database was changed by another program (\(message))",
                hint: "stop cofferd and drop it with 'sqlite3', or restore 'vault.sqlite' from a backup"
            )
        case .constraint(unique: true):
            return CofferError(
                .duplicateItem,
                "can't add to the vault: there is such an entry already",
                hint: "change the one that is there, or remove it first",
                operation: .write
            )
        case .constraint(unique: false), .misuse, .other:
            return CofferError(
                .internal,
                "can't use the vault's database: \(message) (code \(code))",
                hint: "this is a fault of cofferd itself: please report it"
            )
        }
    }
}
