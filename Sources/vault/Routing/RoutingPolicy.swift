package import CofferCore

/// The administrator's settings for the matrix: its bounds, and default protections.
package struct RoutingPolicy: Hashable, Sendable {
    /// The sizes by which the matrix decides.
    package var bounds: RoutingBounds
    /// The protections by name and by client; the first that matches is the default.
    package var defaults: [ProtectionDefault]

    /// The policy without settings.
    package static let standard = RoutingPolicy()

    package init(bounds: RoutingBounds = RoutingBounds(), defaults: [ProtectionDefault] = []) {
        self.bounds = bounds
        self.defaults = defaults
    }

    /// The default protection of an item.
    ///
    /// - Parameters:
    ///   - name: Its name; `nil` if it has none yet, so that only settings for all names match.
    ///   - client: The client that stores it.
    package func protection(of name: ItemName?, from client: ClientIdentity) -> Protection? {
        defaults.first { $0.fits(name, from: client) }?.protection
    }
}

/// The sizes by which the matrix decides, in bytes.
package struct RoutingBounds: Hashable, Sendable {
    /// Up to this size, an item without a kind is a secret (R6).
    package var smallBytes = 1 << 10
    /// Above this size, an item that is presented as a file stays one (R5).
    package var fileBytes = 1 << 10
    /// Up to this size, named fields are a secret (R3, R7): a larger text is more likely a configuration file.
    package var structuredBytes = Limits.structuredBytes

    /// Creates the default bounds.
    package init() {}
}

/// A default protection for some names, or for the items of some client.
package struct ProtectionDefault: Hashable, Sendable {
    /// The names; `nil` for all.
    package let pattern: NamePattern?
    /// The client; `nil` for all.
    package let client: ClientPattern?
    /// The protection.
    package let protection: Protection

    package init(pattern: NamePattern?, client: ClientPattern?, protection: Protection) {
        self.pattern = pattern
        self.client = client
        self.protection = protection
    }

    func fits(_ name: ItemName?, from identity: ClientIdentity) -> Bool {
        if let pattern, name.map({ pattern.matches($0.path) }) != true { return false }
        return client?.fits(identity) ?? true
    }
}
