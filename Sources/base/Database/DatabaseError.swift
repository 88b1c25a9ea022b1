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
        self.init(kind, code: code, systemCode: systemCode, message)
        // SQLite's message would wrongly report damage.
        if isOfUnreadableDisk { self.init(kind, code: code, systemCode: systemCode, "the disk can't be read") }
    }

    /// Whether SQLite has taken a disk that can't be read for damage of the file.
    var isOfUnreadableDisk: Bool { kind == .ioError && code & 0xFF == SQLITE_CORRUPT }

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

extension Error {
    /// Whether it tells of damage of what is stored, and not of a failure.
    package var isDamage: Bool {
        (self as? CofferError)?.code == .decode || (self as? DatabaseError)?.kind == .damaged
            || self is ByteReader.Malformed
    }
}

extension DatabaseError {
    /// Whether SQLite did not understand a statement, or a statement has another meaning with this schema.
    var isOfStatement: Bool { code == SQLITE_ERROR || code == SQLITE_SCHEMA }

    /// The same error as damage of the file.
    var asDamage: DatabaseError { DatabaseError(.damaged, code: code, systemCode: systemCode, message) }
}

extension DatabaseError.Kind {
    init(code: Int32, _ systemCode: Int32) {
        switch (code & 0xFF, systemCode) {
        // SQLite reports a disk that can't be read as damage of the file.
        case (SQLITE_CORRUPT, coffer_input_output_error), (SQLITE_CORRUPT, coffer_no_such_device),
            (SQLITE_CORRUPT, coffer_result_out_of_range):
            self = .ioError
        case (SQLITE_IOERR, coffer_no_room), (SQLITE_IOERR, coffer_no_quota), (SQLITE_IOERR, coffer_file_too_large):
            self = .full
        case (SQLITE_IOERR, coffer_read_only), (SQLITE_CANTOPEN, coffer_read_only): self = .readOnly
        default: self = Self.extendedCodes[code] ?? Self.primaryCodes[code & 0xFF] ?? .other
        }
    }

    /// By SQLite's extended result code.
    ///
    /// The header defines these as expressions, which are not imported.
    private static let extendedCodes: [Int32: Self] = [
        // A short read, and a checksum that is wrong.
        SQLITE_IOERR | 2 << 8: .damaged, SQLITE_IOERR | 32 << 8: .damaged,
        // Triggers and copies of rows may carry on a damaged value; values of Coffer have the right type.
        SQLITE_CONSTRAINT | 12 << 8: .damaged,
        // A primary key, a unique index and a row number.
        SQLITE_CONSTRAINT | 6 << 8: .constraint(unique: true), SQLITE_CONSTRAINT | 8 << 8: .constraint(unique: true),
        SQLITE_CONSTRAINT | 10 << 8: .constraint(unique: true),
    ]

    /// By SQLite's primary result code.
    private static let primaryCodes: [Int32: Self] = [
        SQLITE_BUSY: .busy, SQLITE_FULL: .full, SQLITE_READONLY: .readOnly, SQLITE_IOERR: .ioError,
        SQLITE_CANTOPEN: .cannotOpen, SQLITE_PERM: .cannotOpen,
        // A damaged length may be too big; Coffer's own values are far smaller.
        SQLITE_CORRUPT: .damaged, SQLITE_NOTADB: .damaged, SQLITE_TOOBIG: .damaged,
        SQLITE_CONSTRAINT: .constraint(unique: false), SQLITE_MISUSE: .misuse, SQLITE_RANGE: .misuse,
    ]
}

extension DatabaseError {
    /// The error as a client sees it.
    package var cofferError: CofferError {
        if kind == .batchLost {
            // Only the cause tells the client whether there is a remedy; that the request shared a commit with others
            // does not concern it.
            let cause = Kind(code: code, systemCode)
            return DatabaseError(cause, code: code, systemCode: systemCode, message).cofferError
        }
        let isOfWrite = [.full, .readOnly, .constraint(unique: true)].contains(kind)
        return CofferError(problem.code, problem.words, hint: hint, operation: isOfWrite ? .write : .read)
    }

    private var problem: (code: ErrorCode, words: String) {
        switch kind {
        case .busy: (.notAvailable, "can't open the vault: another cofferd is using this vault")
        case .newer: (.notAvailable, "can't open the vault: it was made by a newer version of Coffer")
        case .full where systemCode == coffer_file_too_large:
            (.diskFull, "can't write to the vault: its database would be larger than the file-size limit allows")
        case .full where systemCode == coffer_no_quota:
            (.diskFull, "can't write to the vault: the disk quota is exceeded")
        case .full: (.diskFull, "can't write to the vault: the disk is full")
        case .readOnly where isOfFileSystem: (.io, "can't write to the vault: its file system is read-only")
        case .readOnly: (.io, "can't write to the vault: its database can be read only")
        case .cannotOpen: (.io, "can't open the vault: its database can't be opened (\(message))")
        case .ioError: (.io, "can't read or write the vault: \(message)")
        case .damaged: (.decode, "can't read the vault: its database is damaged (\(message))")
        case .foreign: (.decode, "can't use the vault: its database was changed by another program (\(message))")
        case .constraint(unique: true): (.duplicateItem, "can't add to the vault: there is such an entry already")
        case .constraint(unique: false), .misuse, .other, .batchLost:
            (.internal, "can't use the vault's database: \(message) (code \(code))")
        }
    }

    private var hint: String {
        switch kind {
        case .busy: "stop the other cofferd, or give this one a state directory of its own"
        case .newer: "install that version, or a later one"
        case .full where systemCode == coffer_file_too_large:
            "raise the limit ('ulimit -f', or LimitFSIZE= of the service) and start cofferd again"
        case .full where systemCode == coffer_no_quota:
            "make room within the quota of cofferd's user and repeat the command"
        case .full: "make room on the disk of the vault and repeat the command"
        case .readOnly where isOfFileSystem:
            "make it writable, or copy the state directory to one that is, and start cofferd again"
        case .readOnly: "see that cofferd owns its state directory and may write to the files in it"
        case .cannotOpen: "see that cofferd owns its state directory, and that no part of its path is a symbolic link"
        case .ioError: "look for errors of the disk in the system's log"
        case .damaged:
            """
            'coffer doctor --repair' rebuilds indices; if the vault can't be opened at all, put back a copy of its state \
            directory, or make room for a new one with 'coffer erase'
            """
        case .foreign: "stop cofferd, drop it with 'sqlite3', and start cofferd again"
        case .constraint(unique: true): "change the one that is there, or remove it first"
        case .constraint(unique: false), .misuse, .other, .batchLost:
            "this is a fault of cofferd itself: please report it"
        }
    }
}
