package import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferRouting
internal import CofferSystem
package import CofferWire

extension Vault {
    /// Changes the protection of an item: one row of the catalog, whatever the item's size.
    ///
    /// As for a put, a protection of the other store is converted.
    package func itemProtect(_ params: ItemProtectParameters, _ call: Call) throws(CofferError) -> Step {
        let group = try call.caller.group(nil)
        let wishes = RoutingWishes(protectionClass: params.protectionClass, accessibility: params.accessibility)
        guard let named = try wishes.named() else {
            throw CofferError(
                .param,
                "can't protect \(params.name.quoted): neither 'class' nor 'accessible' was named",
                hint: "name one of them: it is converted to the item's store"
            )
        }
        let located = try require(params.name, in: group)
        let store = located.info.protection.store
        let protection = named.converted(to: store)
        let item: ItemInfo
        do {
            let catalog = try catalog
            let now = wallClockMilliseconds()
            item = try catalog.change { changes in
                switch (located.item, protection) {
                case (.keychain(let item), .keychain(let accessibility)):
                    try catalog.keychain.protect(item, as: accessibility, now: now, with: call.caller.context)
                case (.file(let file), .file(let protectionClass)):
                    try catalog.files.protect(file, as: protectionClass, now: now)
                case (.keychain, .file), (.file, .keychain):
                    preconditionFailure("a protection is converted to the store of its item")
                }
                if located.info.protection != protection { changes.note(located.item.change(.changed)) }
                return try require(params.name, in: group).info
            }
        } catch {
            throw .init(mapping: error, "can't protect \(params.name.quoted)")
        }
        let warnings = protection.warnings(convertedFrom: named.store == store ? nil : named)
        return .done(Reply(ProtectionChange(item: item, warnings: warnings)))
    }
}
