package import CofferCore

/// The options and defaults that decide where an item is stored and how it is protected.
package struct RoutingWishes: Hashable, Sendable {
    /// The store that the caller named.
    package let store: StoreName?
    /// The protection class that the caller named.
    package let protectionClass: ProtectionClass?
    /// The accessibility that the caller named.
    package let accessibility: Accessibility?
    /// The class of the file of which the item is a copy.
    package let leastClass: ProtectionClass?
    /// The protection of the item that is being replaced.
    package var existing: Protection?
    /// The class of new files in the directory where the item would be as a file.
    package let directory: ProtectionClass?
    /// The default of the client's entitlement.
    package let entitled: Protection?
    /// The default of the configuration.
    package let configured: Protection?
    /// The class of new files of the group where nothing else decides.
    package let group: ProtectionClass?

    package init(
        store: StoreName? = nil,
        protectionClass: ProtectionClass? = nil,
        accessibility: Accessibility? = nil,
        leastClass: ProtectionClass? = nil,
        existing: Protection? = nil,
        directory: ProtectionClass? = nil,
        entitled: Protection? = nil,
        configured: Protection? = nil,
        group: ProtectionClass? = nil
    ) {
        self.store = store
        self.protectionClass = protectionClass
        self.accessibility = accessibility
        self.leastClass = leastClass
        self.existing = existing
        self.directory = directory
        self.entitled = entitled
        self.configured = configured
        self.group = group
    }

    /// Whether the caller named the protection in the terms of both stores: neither is a conversion.
    package var namesBoth: Bool { protectionClass != nil && accessibility != nil }

    /// The protection that the caller named.
    ///
    /// - Returns: `nil` if it named none.
    /// - Throws: `param` if it named a class and an accessibility that do not correspond.
    package func named() throws(CofferError) -> Protection? {
        switch (protectionClass, accessibility) {
        case (let protectionClass?, let accessibility?) where Accessibility(matching: protectionClass) == accessibility:
            return .file(protectionClass)
        case (let protectionClass?, let accessibility?):
            throw CofferError(
                .param,
                "can't protect an item in two ways: class '\(protectionClass.rawValue)' and "
                    + "accessibility '\(accessibility.rawValue)' were both named",
                hint: "name one of them: it is converted if the item goes to the other store"
            )
        case (let protectionClass?, nil): return .file(protectionClass)
        case (nil, let accessibility?): return .keychain(accessibility)
        case (nil, nil): return nil
        }
    }
}
