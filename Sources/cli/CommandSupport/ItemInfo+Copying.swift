package import CofferClient

extension ItemInfo {
    /// The attributes that a copy gets: all but those that its name and its protection give it.
    package var attributesOfCopy: [KeychainAttribute: AttributeValue] {
        (attributes ?? [:]).filter { !KeychainAttribute.ofIdentity.contains($0.key) }
    }

    /// Refuses an item whose copy would be another thing.
    ///
    /// - Parameter participle: What can't be done with it, such as `duplicated`.
    package func requireCopyable(_ participle: String) throws(CofferError) {
        if let itemClass, itemClass != .genericPassword {
            throw CofferError(
                .param,
                "\(quotedForDisplay(name)) can't be \(participle): its attributes are its name",
                hint: "'coffer keychain add --class \(itemClass.kebabCase)' stores another one"
            )
        }
        if accessControl != nil {
            throw CofferError(
                .param,
                "\(quotedForDisplay(name)) can't be \(participle): its copy would not require authentication",
                hint: "'coffer keychain add --access-control' stores another one"
            )
        }
    }
}

extension ItemClass {
    /// The name on the command line.
    package var kebabCase: String {
        rawValue.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : String($1) }
    }
}

extension PlacementOptions {
    /// The store, the protection, the kind and the group of an item.
    package init(like info: ItemInfo) {
        self.init()
        group = info.group
        kind = info.kind
        store = info.protection.store
        switch info.protection {
        case .keychain(let accessibility): self.accessibility = accessibility
        case .file(let protection): protectionClass = protection
        }
    }

    /// The options for a copy: as those of the item, but a file gets the class of a new file at its place unless its own
    /// is stricter.
    package init(copying info: ItemInfo) {
        self.init(like: info)
        (leastClass, protectionClass) = (protectionClass, nil)
    }
}
