package import CofferCore

/// What the administrator has set for the matrix: its bounds, and the protections of items of which nobody says more.
package struct RoutingPolicy: Hashable, Sendable {
    /// The sizes that the matrix decides by.
    package var bounds: RoutingBounds
    /// The protections by name and by client; the first that fits is the default.
    package var defaults: [ProtectionDefault]

    /// The policy of a machine where nothing was set.
    package static let standard = RoutingPolicy()

    /// Makes a policy.
    package init(bounds: RoutingBounds = RoutingBounds(), defaults: [ProtectionDefault] = []) {
        self.bounds = bounds
        self.defaults = defaults
    }

    /// The default of an item.
    ///
    /// - Parameters:
    ///   - name: Its name; `nil` where it has none yet, and only what is for all names fits.
    ///   - client: Who stores it.
    package func protection(of name: ItemName?, from client: ClientIdentity) -> Protection? {
        defaults.first { $0.fits(name, from: client) }?.protection
    }
}

/// The sizes that the matrix decides by, in bytes.
package struct RoutingBounds: Hashable, Sendable {
    /// Up to which an item of no kind is taken for a secret (R6).
    package var smallBytes = 1 << 10
    /// Above which what comes as a file stays one (R5).
    package var fileBytes = 1 << 10
    /// Up to which fields with names are a secret (R3, R7): above it, they are more likely a configuration file.
    package var structuredBytes = Limits.structuredBytes

    /// The bounds of semantics.
    package init() {}
}

/// The protection of items of some names, or of those that some client stores.
package struct ProtectionDefault: Hashable, Sendable {
    /// Which names; `nil` for all.
    package let pattern: NamePattern?
    /// Which client; `nil` for all.
    package let client: ClientPattern?
    /// How they are protected.
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
