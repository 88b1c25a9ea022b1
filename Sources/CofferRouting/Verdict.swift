package import CofferCore

/// Whose word decided where an item goes.
///
/// The raw value stands on the wire.
package enum StoreSource: String, CaseIterable, Sendable {
    /// The rule of the matrix.
    case matrix
    /// The caller, who named the store.
    case caller
}

/// Whose word decided how an item is protected.
///
/// The first of these that said something wins. The raw value stands on the wire.
package enum ProtectionSource: String, CaseIterable, Sendable {
    /// The caller, who named a class or an accessibility.
    case caller
    /// The directory of a file, which has a class for what is new in it.
    case directory
    /// The item that is being replaced.
    case existingItem
    /// The client's entitlements.
    case entitlement
    /// The configuration, by the item's name or by the client.
    case configuration
    /// The scenario that the caller named.
    case scenario
    /// Nobody said anything.
    case standard
}

/// Where an item goes, how it is protected, and why.
package struct Verdict: Hashable, Sendable {
    /// The store.
    package let store: StoreName
    /// Whose word decided the store.
    package let storeSource: StoreSource
    /// The row of the matrix that fits the facts, also where the caller overrode it.
    package let rule: Rule
    /// The protection, in the terms of ``store``.
    package let protection: Protection
    /// Whose word decided the protection.
    package let protectionSource: ProtectionSource
    /// The protection as it was said, where that was in the terms of the other store.
    ///
    /// The file store knows no `ThisDeviceOnly`, and the keychain no class B: whoever asked for one is to be told.
    package let convertedFrom: Protection?
    /// What the content shows it to be, where that took part in the decision.
    package let signature: ContentSignature?
    /// The sizes that the rule decided by.
    let bounds: RoutingBounds

    /// Why the item goes there, in a sentence for people.
    package var reason: String {
        let found = signature.map { "; by its content it is \($0.words)" } ?? ""
        let reason = rule.reason(bounds) + found
        switch storeSource {
        case .matrix: return reason
        case .caller: return "the caller named the store; without that, \(rule.rawValue): \(reason)"
        }
    }
}
