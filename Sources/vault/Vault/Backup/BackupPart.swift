internal import CofferFileContent
internal import CofferCore
internal import CofferFiles
internal import CofferSystem
internal import Glibc

/// A part of the vault that a backup reads, on any thread.
enum BackupPart: Sendable {
    /// Read when the backup began.
    case bytes([UInt8])
    /// The copy of the catalog.
    case copy(Directory)
    case content(ItemID, isOverlay: Bool, ContentDirectory)

    /// Finds a part by its name.
    ///
    /// - Throws: `param` if there is no part of such a name; `itemNotFound`.
    init(_ name: String, of session: BackupSession) throws(CofferError) {
        switch name {
        case "keybag": self = .bytes(session.copied.keybag)
        case "anchor":
            guard let anchor = session.copied.anchor else { throw Self.missing }
            self = .bytes(anchor)
        case "catalog": self = .copy(session.directory)
        default:
            let suffix = ContentDirectory.overlaySuffix
            let isOverlay = name.hasSuffix(suffix)
            guard let id = ItemID(hexadecimal: isOverlay ? String(name.dropLast(suffix.count)) : name) else {
                throw CofferError(.param, "parameter 'part': it is no part that a backup reads")
            }
            self = .content(id, isOverlay: isOverlay, session.catalog.files.contents)
        }
    }

    /// Sends a descriptor of the part, open for reading only.
    ///
    /// - Parameter socket: A client's socket of the family `AF_UNIX`.
    /// - Returns: The bytes of the part.
    /// - Throws: `param` if it is no such socket, or has no space; `itemNotFound`; `io`.
    func send(over socket: borrowing OwnedDescriptor) throws(CofferError) -> Int64 {
        do {
            let file = try open()
            guard socket.waitForRoom(milliseconds: 0),
                unsafe (try? socket.send(Self.mark.span.bytes, passing: file.number)) == 1
            else { throw Self.noSocket }
            return Int64(try file.status().st_size)
        } catch {
            throw CofferError(mapping: error, "can't read for the backup")
        }
    }

    private func open() throws -> OwnedDescriptor {
        switch self {
        case .bytes(let bytes):
            let memory = try AnonymousMemory("coffer backup")
            let file = try memory.sealed(with: bytes)
            return file
        case .copy(let directory): return try directory.open(BackupSession.copyName)
        case .content(let id, let isOverlay, let contents):
            guard let file = try contents.openSealed(id, isOverlay: isOverlay) else { throw Self.missing }
            return file
        }
    }

    /// The byte that a descriptor goes with.
    private static let mark: [UInt8] = [0]

    private static let missing = CofferError(.itemNotFound, "there is no such part on the disk")

    private static let noSocket = CofferError(
        .param,
        "the descriptor passed is no socket over which another one can be sent"
    )
}
