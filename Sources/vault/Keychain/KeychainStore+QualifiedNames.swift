package import CofferCore

extension KeychainStore {
    /// Finds the item of a name that is no path.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - group: The access group of the item.
    /// - Returns: The item; `nil` if there is none.
    /// - Throws: `param` if several have the name, `dataTooLarge` if more than ``Limits/queryItems`` have what it consists
    ///   of, `interactionNotAllowed` if one that may have it can be named after the first unlock only, `decode`;
    ///   ``DatabaseError``.
    package func find(_ name: QualifiedName, in group: String) throws -> KeychainItem? {
        var (items, damaged): ([KeychainItem], CofferError?) = ([], nil)
        var (place, seenCount): (Int64?, Int) = (nil, 0)
        repeat {
            let query = ItemQuery(name.query, groups: [group])
            let page = try index.search(query, after: place, lookingAt: Limits.queryBatch)
            if !page.sealedRows.isEmpty { throw CofferError.locked(name.quoted, in: state, for: .read) }
            items += page.items.filter(name.names)
            damaged = damaged ?? page.damaged.first
            (place, seenCount) = (page.next, seenCount + page.lookedAt)
        } while place != nil && items.count < Limits.namedReferences && seenCount < Limits.queryItems
        if items.count > 1 { throw name.ambiguity(of: items) }
        if place != nil { throw name.excess }
        if items.isEmpty, let damaged { throw damaged }
        return items.first
    }
}

extension QualifiedName {
    fileprivate var quoted: String { itemName?.quoted ?? "the item" }

    /// Whether it is the name of an item that its query has found.
    fileprivate func names(_ item: KeychainItem) -> Bool {
        if case .reference = self { true } else { item.attributes.qualifiedName == self }
    }

    fileprivate func ambiguity(of items: [KeychainItem]) -> CofferError {
        let references = items.prefix(Limits.namedReferences).map { "'reference:\($0.id.hexadecimal)'" }
        return CofferError(
            .param,
            "several items are called \(quoted)",
            hint: "name one by its reference: \(references.joined(separator: ", "))"
        )
    }

    fileprivate var excess: CofferError {
        CofferError(
            .dataTooLarge,
            "more than \(Limits.queryItems) items have the attributes of \(quoted)",
            hint: "name one by its reference, as 'coffer list --json' has it"
        )
    }
}
