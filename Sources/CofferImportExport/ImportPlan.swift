package import CofferClient
package import CofferContents
package import CofferExchange

/// What an import stores, all of it checked before the first item is.
package struct ImportPlan {
    /// An item that is stored.
    package struct Item {
        /// Where it goes.
        package enum Target {
            /// A secret or a file under a name.
            case name(ItemName)
            /// An internet password, which git or docker asks for.
            case server(ServerAddress, account: String, domain: String)
        }

        package let target: Target
        package let content: Secret
        let entry: ExchangeEntry
        /// Whether it is a file that was attached to the entry.
        package var isAttachment = false

        /// The name for a person.
        package var name: String {
            switch target {
            case .name(let name): name.path
            case .server(let address, let account, _): "login:\(account)@\(address.server)"
            }
        }

        /// What it is, in a word.
        var kind: String { isAttachment ? "file" : entry.kind.rawValue }
    }

    /// The attributes with the dates that an entry had in the other program.
    package static let created: AttributeName = "originally-created"
    package static let modified: AttributeName = "originally-modified"

    package let items: [Item]

    /// Names the items and makes their contents.
    package init(_ entries: [ExchangeEntry], below prefix: ItemName?) throws(CofferError) {
        var items: [Item] = []
        for (entry, name) in zip(entries, try EntryName.names(of: entries, below: prefix)) {
            items += try Self.items(of: entry, name)
        }
        self.items = try Self.withoutRepetitions(items)
    }

    private static func items(of entry: ExchangeEntry, _ name: ItemName) throws(CofferError) -> [Item] {
        if let server = entry.server {
            let target = Item.Target.server(
                ServerAddress(url: server.url),
                account: server.account,
                domain: server.domain
            )
            return [Item(target: target, content: entry[ExchangeEntry.password] ?? Secret(nil), entry: entry)]
        }
        var items: [Item] = []
        let content = try EntryContent.secret(of: entry)
        if content.count > 0 { items.append(Item(target: .name(name), content: content, entry: entry)) }
        var taken: Set<String> = []
        for attachment in entry.attachments where attachment.content.count > 0 {
            let part = EntryName.part(attachment.name) ?? "attachment"
            var (free, number) = (part, 2)
            while !taken.insert(free).inserted {
                free = "\(number)-\(part)"
                number += 1
            }
            let path = try ItemName("\(name.path)/\(free)")
            items.append(Item(target: .name(path), content: attachment.content, entry: entry, isAttachment: true))
        }
        return items
    }

    /// Leaves out what is there twice, with the same content.
    private static func withoutRepetitions(_ items: [Item]) throws(CofferError) -> [Item] {
        var places: [[UInt8]: Int] = [:]
        var kept: [Item] = []
        for item in items {
            let key = Array(item.identity.utf8)
            guard let place = places[key] else {
                places[key] = kept.count
                kept.append(item)
                continue
            }
            guard kept[place].content.isEqual(to: item.content) else {
                throw CofferError(
                    .param,
                    "\(item.entry.place): there are two different items \(quotedForDisplay(item.name))",
                    hint: "rename one of them in the other program, or remove it from the file"
                )
            }
        }
        return kept
    }
}

extension ImportPlan.Item {
    /// What makes it one item.
    fileprivate var identity: String {
        switch target {
        case .name(let name): "name \(name.path)"
        case .server(let address, let account, let domain): "server \(domain) \(account) \(address.url)"
        }
    }
}

extension ImportPlan.Item {
    /// The attributes that say when it was made elsewhere, and by which words it is found.
    package func userAttributes() -> [AttributeName: String] {
        var user: [AttributeName: String] = [:]
        let words = entry.tags.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: "-") }
        let tags = words.filter { !$0.isEmpty && $0.utf8.count <= 64 }.prefix(32)
        if !tags.isEmpty { user["tags"] = tags.joined(separator: " ") }
        if let created = entry.created { user[ImportPlan.created] = ExchangeDate.iso(created) }
        if let modified = entry.modified { user[ImportPlan.modified] = ExchangeDate.iso(modified) }
        return user
    }

    var attributes: [KeychainAttribute: AttributeValue] {
        entry.expires.map { [.expiryDate: .date($0)] } ?? [:]
    }
}
