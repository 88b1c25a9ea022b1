internal import CofferCore
internal import CofferKeychain

/// An operation on all items that a query selects.
///
/// The search may take several turns, the operation runs in one.
final class KeychainSelection: SlicedWork {
    private let query: ItemQuery
    let subject: String
    private let body: ([KeychainItem], Catalog) throws -> Reply

    private var place: Int64?
    /// Found in earlier turns: other clients may have changed them since.
    private var earlier: [ItemID] = []
    private var found: [KeychainItem] = []
    private var damaged: CofferError?
    private(set) var doneCount = 0

    /// Begins a search.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - subject: The operation, for a sentence that begins with "can't".
    ///   - body: The operation; it gets at least one item.
    init(_ query: ItemQuery, _ subject: String, then body: @escaping ([KeychainItem], Catalog) throws -> Reply) {
        self.query = query
        self.subject = subject
        self.body = body
    }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        earlier += found.map(\.id)
        found = []
        repeat {
            let batch = try catalog.keychain.search(query, after: place, lookingAt: Limits.queryBatch)
            doneCount += batch.lookedAt
            damaged = damaged ?? batch.damaged.first
            found += batch.items
            place = batch.next
        } while place != nil && !isEnough()
        if place != nil { return nil }
        let items = try earlier.compactMap { try catalog.keychain.find($0) }.filter(query.matches) + found
        guard !items.isEmpty else {
            throw damaged ?? CofferError(.itemNotFound, "no keychain item matches")
        }
        return try body(items, catalog)
    }
}
