package import CofferClient

/// The file `export.data` in an archive of 1Password, as JSON.
package struct OnePUXReader {
    /// The words for the categories that are not logins.
    private static let kinds: [String: ExchangeEntry.Kind] = [
        "001": .login, "002": .card, "003": .note, "004": .identity, "114": .key, "005": .secret, "112": .secret,
    ]

    private let files: [String]
    private var names: [(entry: Int, document: String, name: String)] = []
    private var list = ExchangeList()

    /// Reads the entries, with the files in the archive that belong to them.
    ///
    /// - Parameters:
    ///   - content: The file `export.data`.
    ///   - files: The names of all files in the archive.
    ///   - extract: Reads one of them.
    package static func entries(
        of content: Secret,
        files: [String],
        _ extract: (String) throws(CofferError) -> Secret
    ) throws(CofferError) -> ExchangeList {
        let root = try SecretJSON(content).root
        guard root["accounts"].isList else {
            throw .malformed("this is not the data of 1Password: it has no list 'accounts'")
        }
        var reader = OnePUXReader(files: files)
        try reader.add(root)
        for (entry, document, name) in reader.names {
            guard let path = files.first(where: { $0.hasPrefix("files/\(document)__") }) else { continue }
            let attachment = ExchangeEntry.Attachment(name: name, content: try extract(path))
            reader.list.entries[entry].attachments.append(attachment)
        }
        return reader.list
    }

    private init(files: [String]) { self.files = files }

    private mutating func add(_ root: JSONItem) throws(CofferError) {
        var (number, archived) = (0, 0)
        for account in root["accounts"].elements {
            let vaults = account["vaults"].elements
            for vault in vaults {
                let name = try vault["attrs"]["name"].text() ?? ""
                for item in vault["items"].elements {
                    number += 1
                    // An earlier version has each item in an object of its own.
                    let item = item["item"].isObject ? item["item"] : item
                    guard !item["trashed"].isTrue else { continue }
                    if try item["state"].text() == "archived" { archived += 1 }
                    try add(item, in: vaults.count > 1 ? [name] : [], place: "item \(number)")
                }
            }
        }
        if archived > 0 {
            let words = counted(archived, "archived item comes along", "archived items come along")
            list.remarks.append("\(words), with the tag 'archived'")
        }
    }

    private mutating func add(_ item: JSONItem, in folder: [String], place: String) throws(CofferError) {
        var entry = ExchangeEntry(place: place)
        let (overview, details) = (item["overview"], item["details"])
        entry.folder = folder
        entry.title = try overview["title"].text() ?? ""
        entry.kind = Self.kinds[try item["categoryUuid"].text() ?? ""] ?? .secret
        entry.created = item["createdAt"].integer.flatMap { $0.magnitude < 1 << 40 ? $0 * 1000 : nil }
        entry.modified = item["updatedAt"].integer.flatMap { $0.magnitude < 1 << 40 ? $0 * 1000 : nil }
        for tag in overview["tags"].elements { if let tag = try tag.text() { entry.tags.append(tag) } }
        if item["favIndex"].integer ?? 0 != 0 { entry.tags.append("favorite") }
        if try item["state"].text() == "archived" { entry.tags.append("archived") }
        try addLogin(overview, details, to: &entry)
        for section in details["sections"].elements { try addSection(section, to: &entry) }
        try entry.setNotes(try details["notesPlain"].secret())
        try attach(details["documentAttributes"])
        if entry.isEmpty && names.last?.entry != list.entries.count { return }
        try list.append(entry)
    }

    private func addLogin(
        _ overview: JSONItem,
        _ details: JSONItem,
        to entry: inout ExchangeEntry
    ) throws(CofferError) {
        let fields = details["loginFields"].elements
        for (designation, name) in [("password", ExchangeEntry.password), ("username", ExchangeEntry.username)] {
            for field in fields {
                if try field["designation"].text() == designation { try entry.add(name, try field["value"].secret()) }
            }
        }
        if entry[ExchangeEntry.password] == nil {
            try entry.add(ExchangeEntry.password, try details["password"].secret())
        }
        var urls: [Secret] = []
        for url in overview["urls"].elements { if let url = try url["url"].secret() { urls.append(url) } }
        if urls.isEmpty, let url = try overview["url"].secret() { urls.append(url) }
        try entry.addURLs(urls)
        for field in fields where field["designation"].isNull {
            try entry.add(try field["name"].text() ?? "", try field["value"].secret())
        }
    }

    private mutating func addSection(_ section: JSONItem, to entry: inout ExchangeEntry) throws(CofferError) {
        for field in section["fields"].elements {
            let title = try field["title"].text() ?? ""
            guard let (type, value) = field["value"].members.first else { continue }
            switch type {
            case "totp": try entry.addOneTimeKey(try value.secret())
            case "file": try attach(value)
            case "sshKey": try entry.add(title.isEmpty ? "private key" : title, try value["privateKey"].secret())
            case "email": try entry.add(title, try (value.isObject ? value["email_address"] : value).secret())
            case "reference": break
            case "date": try entry.add(title, try date(value))
            case "address":
                for (key, part) in value.members { try entry.add("\(title) \(key)", try part.secret()) }
            default: try entry.add(title, try value.secret())
            }
        }
    }

    private func date(_ value: JSONItem) throws(CofferError) -> Secret? {
        guard let seconds = value.integer, seconds.magnitude < 1 << 40 else { return try value.secret() }
        return try Secret(bulk: String(ExchangeDate.iso(seconds * 1000).prefix(10)))
    }

    private mutating func attach(_ file: JSONItem) throws(CofferError) {
        guard let document = try file["documentId"].text(), !document.isEmpty else { return }
        names.append((list.entries.count, document, try file["fileName"].text() ?? document))
    }
}
