internal import CofferClient

/// The JSON that Bitwarden exports without encryption, of a person or an organization.
struct BitwardenReader {
    /// The types of its items.
    private enum ItemType: Int64 {
        case login = 1
        case note, card, identity, sshKey
    }

    /// The members of a login that are fields by another name, or a matter of the program.
    private static let loginMembers: Set = [
        "password", "username", "uris", "uri", "totp", "fido2Credentials", "passwordRevisionDate", "autofillOnPageLoad",
    ]

    private let folders: [String: String]
    private let collections: [String: String]

    static func entries(
        of content: Secret,
        _ password: () throws(CofferError) -> Secret
    ) throws(CofferError) -> ExchangeList {
        var root = try SecretJSON(content).root
        let isOpened = root["encrypted"].isTrue && root["passwordProtected"].isTrue
        if isOpened {
            root = try SecretJSON(try BitwardenEncryption.opened(root, try password())).root
        }
        guard root.isObject, root["items"].isList || root["encrypted"].isTrue else {
            throw .malformed("this is not Bitwarden's JSON: it has no list 'items'")
        }
        if root["encrypted"].isTrue { throw encryptionFault }
        let reader = BitwardenReader(
            folders: try names(root["folders"]),
            collections: try names(root["collections"])
        )
        var list = try reader.entries(root["items"].elements)
        list.wasEncrypted = isOpened
        return list
    }

    /// What to do with a file that only the account can open.
    private static var encryptionFault: CofferError {
        .malformed(
            "the file is encrypted for its Bitwarden account, and only that can open it",
            hint: "export it as '.json (Encrypted)' with 'Password protected', or as '.json'"
        )
    }

    private static func names(_ list: JSONItem) throws(CofferError) -> [String: String] {
        var names: [String: String] = [:]
        for folder in list.elements {
            if let id = try folder["id"].text() { names[id] = try folder["name"].text() ?? "" }
        }
        return names
    }

    private func entries(_ items: [JSONItem]) throws(CofferError) -> ExchangeList {
        var list = ExchangeList()
        for (index, item) in items.enumerated() {
            let (place, title) = ("item \(index + 1)", try item["name"].text() ?? "")
            guard item["deletedDate"].isNull else {
                var entry = ExchangeEntry(place: place)
                entry.title = title
                try list.leaveOut(entry, because: "it is in the trash")
                continue
            }
            try list.take(place, title) { () throws(CofferError) in try entry(item, place: place) }
        }
        return list
    }

    private func entry(_ item: JSONItem, place: String) throws(CofferError) -> ExchangeEntry {
        guard item.isObject, let type = item["type"].integer else { throw .malformed("\(place) has no 'type'") }
        var entry = ExchangeEntry(place: place)
        entry.title = try item["name"].text() ?? ""
        entry.folder = try folder(of: item)
        entry.dates.created = try item["creationDate"].text().flatMap { ExchangeDate.milliseconds(iso: $0) }
        entry.dates.modified = try item["revisionDate"].text().flatMap { ExchangeDate.milliseconds(iso: $0) }
        if item["favorite"].isTrue { entry.tags.append("favorite") }
        switch ItemType(rawValue: type) {
        case .login: try addLogin(item["login"], to: &entry)
        case .note: entry.kind = .note
        case .card: try addMembers(of: item["card"], .card, to: &entry)
        case .identity: try addMembers(of: item["identity"], .identity, to: &entry)
        case .sshKey: try addMembers(of: item["sshKey"], .key, to: &entry)
        // A type of a later version has its values in an object of its own.
        case nil:
            entry.kind = .secret
            for (_, part) in item.members where part.isObject { try addMembers(of: part, .secret, to: &entry) }
        }
        for field in item["fields"].elements {
            let name = try field["name"].text() ?? ""
            if field["type"].integer == 3 { try entry.leaveOut(.field(name), because: "it refers to another field") }
            try entry.add(name, all: field["value"])
        }
        for file in item["attachments"].elements {
            try entry.leaveOut(
                .attachment(try file["fileName"].text() ?? ""),
                because: "the JSON has no bytes of files"
            )
        }
        try entry.setNotes(try item["notes"].secret())
        return entry
    }

    /// The folder, whose name has slashes between nested ones; of an organization the first collection.
    private func folder(of item: JSONItem) throws(CofferError) -> [String] {
        var name = try item["folderId"].text().flatMap { folders[$0] }
        if name == nil, let id = try item["collectionIds"].elements.first?.text() { name = collections[id] }
        return name.map { $0.split(separator: "/").map(String.init) } ?? []
    }

    private func addLogin(_ login: JSONItem, to entry: inout ExchangeEntry) throws(CofferError) {
        try entry.add(ExchangeEntry.password, try login["password"].secret())
        try entry.add(ExchangeEntry.username, try login["username"].secret())
        for uri in login["uris"].elements { try entry.add(ExchangeEntry.url, try uri["uri"].secret()) }
        try entry.addOneTimeKey(try login["totp"].secret())
        for (key, value) in login.members where !Self.loginMembers.contains(key) { try entry.add(key, all: value) }
        for (number, passkey) in login["fido2Credentials"].elements.enumerated() {
            for (key, value) in passkey.members {
                try entry.add("passkey\(number == 0 ? "" : " \(number + 1)") \(key)", all: value)
            }
        }
    }

    /// Takes a card, an identity or a key, whose members become fields.
    private func addMembers(
        of part: JSONItem,
        _ kind: ExchangeEntry.Kind,
        to entry: inout ExchangeEntry
    ) throws(CofferError) {
        entry.kind = kind
        for (key, value) in part.members { try entry.add(key, all: value) }
    }
}
