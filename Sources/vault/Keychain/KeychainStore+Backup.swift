internal import CofferCore
package import CofferDatabase
internal import CofferKeys

extension KeychainStore {
    /// Counts the ThisDeviceOnly items of a catalog, or of its copy, some rows at a time.
    ///
    /// - Parameters:
    ///   - copy: The catalog, or the copy.
    ///   - number: The row after which to begin.
    /// - Returns: Their number, and the last row that was looked at; `nil` if there are no more rows.
    package static func countOfThisDevice(
        in copy: Connection,
        after number: Int64
    ) throws -> (count: Int, last: Int64)? {
        var page: (count: Int, last: Int64)?
        try copy.rows(
            "SELECT id, class_key FROM keychain_items WHERE id > ? ORDER BY id LIMIT ?",
            .integer(number),
            .integer(Int64(Limits.backupPage))
        ) { row in
            let key = ClassKeyName(rawValue: UInt8(truncatingIfNeeded: try row.integer(1)))
            page = ((page?.count ?? 0) + (key?.isThisDeviceOnly == true ? 1 : 0), try row.integer(0))
            return true
        }
        return page
    }
}
