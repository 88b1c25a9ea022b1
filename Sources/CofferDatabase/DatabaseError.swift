internal import CSQLite
package import CofferCore

/// Why the database did not do what was asked.
package struct DatabaseError: Error, Hashable, Sendable {
    /// The sort of failure, as far as it makes a difference to a caller.
    package enum Kind: Hashable, Sendable {
        /// Another connection holds the database.
        case busy
        /// No room on the disk, or no page left under `max_page_count`.
        case full
        /// The file or its file system can be read only.
        case readOnly
        /// The file can't be opened or made, or there is a symbolic link in its path.
        case cannotOpen
        /// The system failed to read, write or sync.
        case ioError
        /// The file is no database of ours, or its content is not what a database of ours can hold.
        case damaged
        /// A constraint of the schema refused the change; `unique` where there is such a row already.
        case constraint(unique: Bool)
        /// The database has migrations that this build does not know.
        case newer
        /// The open transaction is gone, with all that any request did in it. The code is that of the cause.
        case batchLost
        /// A fault in the calling code, such as a wrong number of bindings.
        case misuse
        /// Anything else; the code says what.
        case other
    }

    /// The sort of failure.
    package let kind: Kind
    /// SQLite's extended result code.
    package let code: Int32
    /// SQLite's words for it, or ours, which name tables and columns, never a value.
    package let message: String

    init(_ kind: Kind, code: Int32, _ message: String) {
        self.kind = kind
        self.code = code
        self.message = message
    }

    init(code: Int32, _ message: String) { self.init(Kind(code: code), code: code, message) }

    static func damaged(_ message: String) -> DatabaseError { DatabaseError(.damaged, code: SQLITE_CORRUPT, message) }

    static func misuse(_ message: String) -> DatabaseError { DatabaseError(.misuse, code: SQLITE_MISUSE, message) }
}

extension DatabaseError.Kind {
    // The header spells these as expressions, which are not imported.
    private static let ioErrorShortRead = SQLITE_IOERR | 2 << 8
    private static let ioErrorData = SQLITE_IOERR | 32 << 8
    private static let ioErrorCorruptFileSystem = SQLITE_IOERR | 33 << 8
    private static let constraintPrimaryKey = SQLITE_CONSTRAINT | 6 << 8
    private static let constraintUnique = SQLITE_CONSTRAINT | 8 << 8
    private static let constraintRowID = SQLITE_CONSTRAINT | 10 << 8

    init(code: Int32) {
        switch code {
        case Self.ioErrorShortRead, Self.ioErrorData, Self.ioErrorCorruptFileSystem: self = .damaged
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
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged
        case SQLITE_CONSTRAINT: self = .constraint(unique: false)
        case SQLITE_MISUSE, SQLITE_RANGE: self = .misuse
        default: self = .other
        }
    }
}

extension DatabaseError {
    /// The error as a client gets to see it.
    package var cofferError: CofferError {
        switch kind {
        case .batchLost:
            // Only the cause tells the client whether there is a way out: that the request shared a commit with others
            // is no business of its own.
            let cause = Kind(code: code)
            return DatabaseError(cause == .misuse ? .other : cause, code: code, message).cofferError
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
                "can't write to the vault: its database can be read only (\(message))",
                hint: "see that cofferd owns its state directory, and that the file system is writable"
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
                hint: "restore the vault from a backup"
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
