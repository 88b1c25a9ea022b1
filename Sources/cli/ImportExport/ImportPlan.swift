package import CofferClient
package import CofferSecretFormats

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

    package private(set) var items: [Item] = []
    /// What can't be an item.
    package private(set) var omissions: [Omission] = []
    private var places: [[UInt8]: Int] = [:]

    /// Names the items and makes their contents.
    package init(_ entries: [ExchangeEntry], below prefix: ItemName?) throws(CofferError) {
        for (entry, name) in zip(entries, EntryName.names(of: entries, below: prefix)) {
            do throws(CofferError) {
                try add(try items(of: entry, try name.get()))
            } catch {
                guard error.code == .param || error.code == .dataTooLarge else { throw error }
                omissions.append(Omission(.entry, of: entry.words, because: error.message))
            }
        }
    }

    private mutating func items(of entry: ExchangeEntry, _ name: ItemName) throws(CofferError) -> [Item] {
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
        for attachment in entry.attachments {
            guard attachment.content.count > 0 else {
                omissions.append(Omission(.attachment(attachment.name), of: entry.words, because: "it is empty"))
                continue
            }
            let part = EntryName.part(attachment.name) ?? "attachment"
            var (free, number) = (part, 2)
            while !taken.insert(free).inserted {
                free = "\(number)-\(part)"
                number += 1
            }
            guard let path = try? ItemName("\(name.path)/\(free)") else {
                omissions.append(
                    Omission(.attachment(attachment.name), of: entry.words, because: "its name is too long")
                )
                continue
            }
            items.append(Item(target: .name(path), content: attachment.content, entry: entry, isAttachment: true))
        }
        return items
    }

    /// Adds items, except for what the file has before them.
    private mutating func add(_ new: [Item]) throws(CofferError) {
        for item in new {
            let key = Array(item.identity.utf8)
            guard let place = places[key] else {
                places[key] = items.count
                items.append(item)
                continue
            }
            if items[place].content.isEqual(to: item.content) { continue }
            let reason = "\(items[place].entry.place) has another password for the same server and user"
            omissions.append(Omission(.entry, of: item.entry.words, because: reason))
        }
    }
}

extension ImportPlan.Item {
    /// What makes it one item.
    fileprivate var identity: String {
        switch target {
        case .name(let name): "name \(name.path)"
        case .server(let address, let account, let domain): "server \(domain) \(account) \(address.normalized.url)"
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
        if let created = entry.dates.created { user[ImportPlan.created] = ExchangeDate.iso(created) }
        if let modified = entry.dates.modified { user[ImportPlan.modified] = ExchangeDate.iso(modified) }
        let used = user.reduce(name.utf8.count) { $0 + $1.key.text.utf8.count + $1.value.utf8.count }
        return user.merging(LoginWords(content).attributes(beside: used)) { own, _ in own }
    }

    var attributes: [KeychainAttribute: AttributeValue] {
        entry.dates.expires.map { [.expiryDate: .date($0)] } ?? [:]
    }
}
