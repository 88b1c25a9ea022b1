package import CofferClient
package import CofferCore
package import CofferWire

extension BlockingClient {
    /// The first page of the trash.
    package func trash(after: Int64? = nil, group: String? = nil) throws(CofferError) -> TrashPage {
        try call(TrashListParameters(after: after, group: group)).value
    }

    /// Moves an item to the trash.
    ///
    /// - Returns: The number of the entry.
    @discardableResult
    package func discard(_ name: String, in group: String? = nil) throws -> Int64? {
        try call(ItemRemoveParameters(name: try ItemName(name), keepsInTrash: true, group: group)).value.number
    }

    /// Takes an item out of the trash.
    @discardableResult
    package func restoreFromTrash(_ entry: Int64, as name: String? = nil) throws -> ItemInfo {
        try call(TrashRestoreParameters(number: entry, target: try name.map { try ItemName($0) })).value
    }

    /// Destroys an entry of the trash, or all of them.
    @discardableResult
    package func emptyTrash(_ entry: Int64? = nil) throws(CofferError) -> Int64 {
        try call(TrashEmptyParameters(number: entry)).value.count
    }
}
