package import CofferCore

/// What was said about where an item goes and how it is protected, apart from what it is.
package struct RoutingWishes: Hashable, Sendable {
    /// The store that the caller named.
    package let store: StoreName?
    /// The protection class that the caller named.
    package let protectionClass: ProtectionClass?
    /// The accessibility that the caller named.
    package let accessibility: Accessibility?
    /// The protection of the item that is being replaced.
    package let existing: Protection?
    /// The class that new files get where it would be as a file.
    package let directory: ProtectionClass?
    /// The default that the client's entitlements give.
    package let entitled: Protection?
    /// The default that the configuration gives.
    package let configured: Protection?

    package init(
        store: StoreName? = nil,
        protectionClass: ProtectionClass? = nil,
        accessibility: Accessibility? = nil,
        existing: Protection? = nil,
        directory: ProtectionClass? = nil,
        entitled: Protection? = nil,
        configured: Protection? = nil
    ) {
        self.store = store
        self.protectionClass = protectionClass
        self.accessibility = accessibility
        self.existing = existing
        self.directory = directory
        self.entitled = entitled
        self.configured = configured
    }

    /// The protection that the caller named.
    ///
    /// - Returns: `nil` where it named none.
    /// - Throws: `param` where it named both a class and an accessibility: even two that match would leave open which
    ///   of them a later move between the stores starts from.
    package func named() throws(CofferError) -> Protection? {
        switch (protectionClass, accessibility) {
        case (let protectionClass?, let accessibility?):
            throw CofferError(
                .param,
                "can't protect an item in two ways: class '\(protectionClass.rawValue)' and "
                    + "accessibility '\(accessibility.rawValue)' were both named",
                hint: "name one of them: it is converted where the item goes to the other store"
            )
        case (let protectionClass?, nil): return .file(protectionClass)
        case (nil, let accessibility?): return .keychain(accessibility)
        case (nil, nil): return nil
        }
    }
}
