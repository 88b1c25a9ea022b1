package import CofferCore

/// What decided the store of an item.
///
/// The raw value appears on the wire.
package enum StoreSource: String, CaseIterable, Sendable {
    /// The rule of the matrix.
    case matrix
    /// The caller, who named the store.
    case caller
}

/// What decided the protection of an item.
///
/// The first of these that applies wins. The raw value appears on the wire.
package enum ProtectionSource: String, CaseIterable, Sendable {
    /// The caller, who named a class or an accessibility.
    case caller
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
    /// The protection as it was stated, if that was in the terms of the other store.
    ///
    /// The file store has no `ThisDeviceOnly`, and the keychain no class B: a caller that asked for one must be warned.
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
        }
    }
}
