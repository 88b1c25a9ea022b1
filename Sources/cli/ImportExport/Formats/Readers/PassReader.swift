package import CofferClient

/// An entry of a tree of pass or gopass, once it is decrypted: it has the form of Coffer's own secrets.
package enum PassReader {
    /// The entry of a file.
    ///
    /// - Parameters:
    ///   - path: The path below the tree, without `.gpg`.
    ///   - content: What it decrypts to.
    package static func entry(path: String, _ content: Secret) throws(CofferError) -> ExchangeEntry {
        var entry = ExchangeEntry(place: quotedForDisplay(path))
        let parts = path.split(separator: "/").map(String.init)
        entry.folder = Array(parts.dropLast())
        entry.title = parts.last ?? ""
        guard content.count <= Limits.importFieldBytes else {
            throw .tooLarge("\(entry.place) has \(content.count) bytes, more than \(Limits.importFieldBytes)")
        }
        entry.whole = try withoutOnlyLineEnd(content)
        entry.kind = .secret
        return entry
    }

    /// A single line without its end, as all that makes a password is.
    private static func withoutOnlyLineEnd(_ content: Secret) throws(CofferError) -> Secret {
        let end = content.withBytes { bytes -> Int in
            guard bytes.place(of: 10, in: 0..<bytes.byteCount) == bytes.byteCount - 1 else { return bytes.byteCount }
            return max(0, bytes.byteCount - 1)
        }
        return end == content.count ? content : try content.part(0..<end)
    }
}
