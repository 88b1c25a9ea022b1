package import CofferCore

extension KeychainStore {
    /// Finds the item of a name that is no path.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - group: The access group of the item.
    /// - Returns: The item; `nil` if there is none.
    /// - Throws: `param` if several have the name, `interactionNotAllowed` if one that may have it can be named after the
    ///   first unlock only, `decode`; ``DatabaseError``.
    package func find(_ name: QualifiedName, in group: String) throws -> KeychainItem? {
        let page = try search(ItemQuery(name.query, groups: [group]), lookingAt: Limits.queryBatch)
        if !page.sealedRows.isEmpty { throw CofferError.locked(name.quoted, in: state, for: .read) }
        let items = page.items.filter { item in
            if case .reference = name { true } else { item.attributes.qualifiedName == name }
        }
        guard items.count < 2 && page.next == nil else { throw CofferError.ambiguous(name, items) }
        if items.isEmpty, let damaged = page.damaged.first { throw damaged }
        return items.first
    }
}

extension QualifiedName {
    fileprivate var quoted: String { itemName?.quoted ?? "the item" }
}

extension CofferError {
    fileprivate static func ambiguous(_ name: QualifiedName, _ items: [KeychainItem]) -> CofferError {
        let references = items.prefix(Limits.namedReferences).map { "'reference:\($0.id.hexadecimal)'" }
        return CofferError(
            .param,
            "several items are called \(name.quoted)",
            hint: "name one by its reference: \(references.joined(separator: ", "))"
        )
    }
}
