package import CofferCore

/// Whether an extended attribute is to be new.
package enum AttributeWrite: Sendable {
    case any
    /// It must not exist.
    case creates
    /// It must exist.
    case replaces
}

// Extended attributes: part of the sealed metadata, and so they can be read and changed whenever the names can be.

extension FileStore {
    /// The value of an extended attribute.
    ///
    /// - Parameters:
    ///   - entry: A file, a directory or a symbolic link.
    ///   - attribute: The name of the attribute.
    /// - Throws: `itemNotFound` if there is none of that name.
    package func extendedAttribute(_ attribute: String, of entry: FileEntry) throws(CofferError) -> [UInt8] {
        guard let value = entry.metadata.extended[attribute] else { throw .noAttribute(attribute, of: entry) }
        return value
    }

    /// Sets an extended attribute, within the open transaction.
    ///
    /// - Parameters:
    ///   - attribute: The name of the attribute: it begins with `user.`.
    ///   - value: The value.
    ///   - entry: A file, a directory or a symbolic link.
    ///   - write: Whether it must exist, or must not.
    ///   - now: Nanoseconds since 1970.
    /// - Returns: The changed entry.
    /// - Throws: `param` for a name that is not one of `user.`; `duplicateItem`, `itemNotFound` as `write` has it;
    ///   `dataTooLarge`.
    package func setExtendedAttribute(
        _ attribute: String,
        to value: [UInt8],
        of entry: FileEntry,
        _ write: AttributeWrite,
        now: Int64
    ) throws -> FileEntry {
        guard attribute.utf8.starts(with: "user.".utf8), attribute.utf8.count > 5 else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(attribute)) is no attribute that the vault keeps",
                hint: "the names of those begin with 'user.'",
                reason: .notSupported
            )
        }
        var node = entry.node
        let exists = node.metadata.extended[attribute] != nil
        if write == .replaces && !exists { throw CofferError.noAttribute(attribute, of: entry) }
        if write == .creates && exists {
            throw CofferError(
                .duplicateItem,
                "\(entry.quoted) has an attribute \(quotedForDisplay(attribute)) already",
                operation: .create,
                reason: .attributeExists
            )
        }
        node.metadata.extended[attribute] = value
        try node.metadata.extended.check(of: entry.quoted)
        node.metadata.times.changed = now
        return try store(node, of: entry)
    }

    /// Removes an extended attribute, within the open transaction.
    ///
    /// - Parameters:
    ///   - attribute: The name of the attribute.
    ///   - entry: A file, a directory or a symbolic link.
    ///   - now: Nanoseconds since 1970.
    /// - Returns: The changed entry.
    /// - Throws: `itemNotFound` if there is none of that name.
    package func removeExtendedAttribute(_ attribute: String, of entry: FileEntry, now: Int64) throws -> FileEntry {
        var node = entry.node
        guard node.metadata.extended[attribute] != nil else { throw CofferError.noAttribute(attribute, of: entry) }
        node.metadata.extended[attribute] = nil
        node.metadata.times.changed = now
        return try store(node, of: entry)
    }
}

extension CofferError {
    fileprivate static func noAttribute(_ attribute: String, of entry: FileEntry) -> CofferError {
        CofferError(
            .itemNotFound,
            "\(entry.quoted) has no attribute \(quotedForDisplay(attribute))",
            hint: "'coffer file attribute list' shows those that it has",
            reason: .noAttribute
        )
    }
}
