internal import CofferCore
package import CofferKeys
package import CofferWire

/// The handlers of a family of methods: a value that owns nothing, and shares ``HandlerState`` with the other families.
package protocol HandlerFamily: Handling where Context == Call, Answer == Step {
    var shared: HandlerState { get }
}

extension HandlerFamily {
    package var vault: Vault { shared.vault }
    package var observer: (any VaultObserver)? { shared.observer }
    package var settings: VaultSettings { vault.settings }

    /// The keys of the vault, whose existence the gate has checked.
    package var keys: VaultKeys {
        get throws(CofferError) { try vault.keys }
    }

    /// The keys of the vault, if it is open.
    package var openKeys: VaultKeys? { vault.openKeys }

    /// The catalog of the vault, whose existence the gate has checked.
    package var catalog: Catalog {
        get throws(CofferError) { try vault.catalog }
    }

    /// The catalog, if it is open.
    package var openCatalog: Catalog? { vault.openCatalog }
}
