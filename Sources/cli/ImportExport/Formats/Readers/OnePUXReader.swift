package import CofferClient

/// The file `export.data` in an archive of 1Password, as JSON.
package struct OnePUXReader {
    /// The words for the categories that are not logins.
    private static let kinds: [String: ExchangeEntry.Kind] = [
        "001": .login, "002": .card, "003": .note, "004": .identity, "114": .key, "005": .secret, "112": .secret,
    ]

    /// A file of an entry, by the identifier that is the beginning of its name in the archive.
    private struct Document {
        let id: String
        let name: String
    }

    private var found: [(entry: ExchangeEntry, documents: [Document])] = []
    private var documents: [Document] = []
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
        var reader = OnePUXReader()
        try reader.add(root)
        let paths = Dictionary(files.map { ($0.documentID, $0) }) { first, _ in first }
        var bytes = 0
        for (entry, documents) in reader.found {
            var entry = entry
            for document in documents {
                guard let path = paths[document.id] else {
                    try entry.leaveOut(.attachment(document.name), because: "its bytes are not in the archive")
                    continue
                }
                do throws(CofferError) {
                    let content = try extract(path)
                    bytes += content.count
                    guard bytes <= Limits.importFileBytes else { throw .attachmentsTooLarge }
                    entry.attachments.append(ExchangeEntry.Attachment(name: document.name, content: content))
                } catch {
                    guard [.param, .dataTooLarge, .io].contains(error.code) else { throw error }
                    try entry.leaveOut(.attachment(document.name), because: error.message)
                }
            }
            try reader.list.append(entry)
        }
        return try reader.list.checked()
    }

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
                    if try item["state"].text() == "archived" { archived += 1 }
                    let (place, title) = ("item \(number)", try item["overview"]["title"].text() ?? "")
                    documents = []
                    do throws(CofferError) {
                        guard item.isObject else { throw .malformed("it is no object") }
                        let entry = try entry(item, in: vaults.count > 1 ? [name] : [], place: place)
                        if let entry { found.append((entry, documents)) }
                    } catch {
                        guard error.code == .param || error.code == .dataTooLarge else { throw error }
                        try list.leaveOut(place, title, error)
                    }
                }
            }
        }
        if archived > 0 {
            let words = counted(archived, "archived item comes along", "archived items come along")
            list.remarks.append("\(words), with the tag 'archived'")
        }
    }

    /// Reads an item, and notes its documents.
    ///
    /// - Returns: `nil` if it is left out.
    private mutating func entry(
        _ item: JSONItem,
        in folder: [String],
        place: String
    ) throws(CofferError) -> ExchangeEntry? {
        var entry = ExchangeEntry(place: place)
        let (overview, details) = (item["overview"], item["details"])
        entry.folder = folder
        entry.title = try overview["title"].text() ?? ""
        let state = try item["state"].text()
        guard !item["trashed"].isTrue, state != "trashed" else {
            try list.leaveOut(entry, because: "it is in the trash")
            return nil
        }
        entry.kind = Self.kinds[try item["categoryUuid"].text() ?? ""] ?? .secret
        entry.dates.created = item["createdAt"].integer.flatMap { $0.magnitude < 1 << 40 ? $0 * 1000 : nil }
        entry.dates.modified = item["updatedAt"].integer.flatMap { $0.magnitude < 1 << 40 ? $0 * 1000 : nil }
        for tag in overview["tags"].elements { if let tag = try tag.text() { entry.tags.append(tag) } }
        if item["favIndex"].integer ?? 0 != 0 { entry.tags.append("favorite") }
        if try item["state"].text() == "archived" { entry.tags.append("archived") }
        try addLogin(overview, details, to: &entry)
        for section in details["sections"].elements { try addSection(section, to: &entry) }
        try entry.setNotes(try details["notesPlain"].secret())
        try attach(details["documentAttributes"])
        return entry
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
        if let password = try details["password"].secret(), entry[ExchangeEntry.password]?.isEqual(to: password) != true
        {
            try entry.add(ExchangeEntry.password, password)
        }
        var urls: [Secret] = []
        for url in overview["urls"].elements { if let url = try url["url"].secret() { urls.append(url) } }
        if urls.isEmpty, let url = try overview["url"].secret() { urls.append(url) }
        try entry.addURLs(urls)
        for field in fields {
            if ["password", "username"].contains(try field["designation"].text()) { continue }
            try entry.add(try field["name"].text() ?? "", all: field["value"])
        }
        for (key, value) in details["passkey"].members { try entry.add("passkey \(key)", all: value) }
    }

    private mutating func addSection(_ section: JSONItem, to entry: inout ExchangeEntry) throws(CofferError) {
        for field in section["fields"].elements {
            let title = try field["title"].text() ?? ""
            guard let (type, value) = field["value"].members.first else {
                try entry.add(title, all: field["value"])
                continue
            }
            switch type {
            case "totp": try entry.addOneTimeKey(try value.secret())
            case "file": try attach(value)
            case "sshKey": try entry.add(title.isEmpty ? "private key" : title, try value["privateKey"].secret())
            case "email": try entry.add(title, try (value.isObject ? value["email_address"] : value).secret())
            case "reference":
                if !value.isNull { try entry.leaveOut(.field(title), because: "it refers to another item") }
            case "date": try entry.add(title, try date(value))
            case "address":
                for (key, part) in value.members { try entry.add("\(title) \(key)", all: part) }
            default: try entry.add(title, all: value)
            }
        }
    }

    private func date(_ value: JSONItem) throws(CofferError) -> Secret? {
        guard let seconds = value.integer, seconds.magnitude < 1 << 40 else { return try value.secret() }
        return try Secret(bulk: String(ExchangeDate.iso(seconds * 1000).prefix(10)))
    }

    private mutating func attach(_ file: JSONItem) throws(CofferError) {
        guard let document = try file["documentId"].text(), !document.isEmpty else { return }
        documents.append(Document(id: document, name: try file["fileName"].text() ?? document))
    }
}

extension String {
    /// The identifier in the name of a file of the archive, `files/ID__NAME`.
    fileprivate var documentID: String {
        guard hasPrefix("files/"), let end = firstRange(of: "__") else { return self }
        return String(self[..<end.lowerBound].dropFirst(6))
    }
}
