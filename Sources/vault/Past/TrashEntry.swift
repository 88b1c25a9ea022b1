internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

/// The columns of an entry that are not sealed.
struct TrashRow: Sendable {
    let number: Int64
    /// The time in the trash at which it was removed, in milliseconds.
    let removed: Int64
    let byteCount: Int64
    let node: Int64?

    var labelContext: [UInt8] { context("coffer trash label v1") }
    var imageContext: [UInt8] { context("coffer trash entry v1") }

    private func context(_ name: StaticString) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: name)
        writer.write(number)
        writer.write(removed)
        writer.write(byteCount)
        writer.write(node ?? 0)
        return writer.bytes
    }
}

/// An entry of the trash.
package struct TrashEntry {
    let row: TrashRow
    private let read: Result<TrashLabel?, any Error>

    init(row: TrashRow, label: Result<TrashLabel?, any Error>) {
        self.row = row
        read = label
    }

    /// Its number.
    package var number: Int64 { row.number }
    /// The number of the file that its store keeps; `nil` for an item of the keychain.
    package var node: Int64? { row.node }
    /// The space that it takes, in bytes.
    package var byteCount: Int64 { row.byteCount }
    /// What it was called; `nil` if that can be read after the first unlock only.
    ///
    /// - Throws: `decode` if it is damaged.
    package var label: TrashLabel? { get throws { try read.get() } }

    /// How long it stays, in milliseconds.
    ///
    /// - Parameters:
    ///   - lifetime: How long an entry stays.
    ///   - time: The time in the trash.
    package func remaining(of lifetime: Int64, at time: Int64) -> Int64 {
        max(0, lifetime - max(0, time.nearestDifference(row.removed)))
    }
}

extension TrashStore {
    /// Seals what an entry was called: under the passcode, unless that did not protect its name.
    func seal(_ label: TrashLabel, of row: TrashRow) throws(CofferError) -> [UInt8] {
        let bytes = label.encoded
        do throws(KeyError) {
            return unsafe try keys.sealNames(
                bytes.span.bytes,
                of: .trash,
                context: row.labelContext,
                inEveryState: label.protection.hidesNoName
            )
        } catch {
            throw error.cofferError(label.quoted, in: keys.state, for: .write)
        }
    }

    /// - Returns: `nil` if it can be opened after the first unlock only.
    func open(_ sealed: RawSpan, of row: TrashRow) throws -> TrashLabel? {
        let subject = "entry \(row.number) of the trash"
        do {
            let opened = try keys.openNames(sealed, of: .trash, context: row.labelContext)
            return try TrashLabel(decoding: opened.exposeBytes())
        } catch KeyError.locked {
            return nil
        } catch is KeyError {
            throw CofferError.damaged(subject, found: "its name is not authentic")
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its name has an unknown form")
        }
    }
}
