package import CofferCore

/// What decided the store of an item.
///
/// The raw value appears on the wire.
package enum StoreSource: String, CaseIterable, Sendable {
    /// The rule of the matrix.
    case matrix
    /// The caller, who named the store.
    case caller
    /// The protection, which only this store has.
    case protection
    /// The item that is being replaced, which keeps its store, or has outgrown the keychain.
    case existingItem
}

/// What decided the protection of an item.
///
/// The first of these that applies wins. The raw value appears on the wire.
package enum ProtectionSource: String, CaseIterable, Sendable {
    /// The caller, who named a class or an accessibility.
    case caller
    /// The file of which it is a copy, which has a stricter class than a new file would get.
    case copiedItem
    /// The directory of a file, which has a class for new files.
    case directory
    /// The item that is being replaced.
    case existingItem
    /// The client's entitlement.
    case entitlement
    /// The configuration, by the item's name or by the client.
    case configuration
    /// The scenario that the caller named.
    case scenario
    /// The scenario that goes with the stated kind.
    case kind
    /// The content of a file, which was recognised as a secret.
    case content
    /// The group, which has a class for new files.
    case group
    /// None of these.
    case standard
}

/// Where an item is stored, how it is protected, and why.
package struct Verdict: Hashable, Sendable {
    /// The store.
    package let store: StoreName
    /// What decided the store.
    package let storeSource: StoreSource
    /// The row of the matrix that matches the facts, even if the caller overrode it.
    package let rule: Rule
    /// The protection, in the terms of ``store``.
    package let protection: Protection
    /// What decided the protection.
    package let protectionSource: ProtectionSource
    /// The protection as the caller named it, if that was in the terms of the other store.
    package let convertedFrom: Protection?
    /// The recognised format, if the decision depended on it.
    package let signature: ContentSignature?
    /// The sizes by which the rule decided.
    let bounds: RoutingBounds

    /// Why the item is stored there, in a sentence for people.
    package var reason: String {
        let found = signature.map { "; by its content it is \($0.words)" } ?? ""
        let reason = rule.reason(bounds) + found
        switch storeSource {
        case .matrix: return reason
        case .caller: return "the caller named the store; without that, \(rule.rawValue): \(reason)"
        case .existingItem:
            return
                "an item keeps its store, except that what outgrows the keychain becomes a file; without that, \(rule.rawValue): \(reason)"
        case .protection:
            return
                "the protection '\(protection.words)' exists in the \(store.words) only; without that, \(rule.rawValue): \(reason)"
        }
    }
}

// MARK: - Kept with the item

extension Verdict {
    /// The rule and the sources, as they are kept with an item: their words, with spaces between.
    package var decision: String {
        ([rule.rawValue, storeSource.rawValue, protectionSource.rawValue] + (signature.map { [$0.rawValue] } ?? []))
            .joined(separator: " ")
    }

    /// The verdict of the put that stored an item.
    ///
    /// - Parameters:
    ///   - decision: The ``decision`` that was kept.
    ///   - protection: The protection that the item has.
    ///   - bounds: The sizes by which the matrix decides today.
    /// - Returns: `nil` if none was kept.
    package init?(_ decision: String, of protection: Protection, _ bounds: RoutingBounds) {
        let words = decision.split(separator: " ").map(String.init)
        guard words.count >= 3, let rule = Rule(rawValue: words[0]), let storeSource = StoreSource(rawValue: words[1]),
            let protectionSource = ProtectionSource(rawValue: words[2])
        else { return nil }
        self.init(
            store: protection.store,
            storeSource: storeSource,
            rule: rule,
            protection: protection,
            protectionSource: protectionSource,
            convertedFrom: nil,
            signature: words.count > 3 ? ContentSignature(rawValue: words[3]) : nil,
            bounds: bounds
        )
    }
}
