internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory

/// FIDO's Credential Exchange Format 1.0, as JSON.
struct CXFReader {
    private var folders: [String: [String]] = [:]

    static func entries(of content: Secret) throws(CofferError) -> ExchangeList {
        let root = try SecretJSON(content).root
        guard root["accounts"].isList else {
            throw .malformed("this is not FIDO's Credential Exchange Format: it has no list 'accounts'")
        }
        guard root["version"].isNull || root["version"]["major"].integer == 1 || root["version"].integer == 1 else {
            throw .malformed("the file is of another version of the format than 1")
        }
        var list = ExchangeList()
        for account in root["accounts"].elements {
            var reader = CXFReader()
            for collection in account["collections"].elements { try reader.add(collection, below: [], depth: 0) }
            for (index, item) in account["items"].elements.enumerated() {
                let place = "item \(index + 1)"
                try list.take(place, try item["title"].text() ?? "") { () throws(CofferError) in
                    try reader.entry(item, place: place)
                }
            }
        }
        return list
    }

    /// Takes the items of a collection, which may have collections of its own.
    private mutating func add(_ collection: JSONItem, below parents: [String], depth: Int) throws(CofferError) {
        guard depth < Limits.jsonDepth else { throw .malformed("collections are nested too deeply") }
        let path = parents + [try collection["title"].text() ?? ""]
        for item in collection["items"].elements {
            if let id = try item["item"].text(), folders[id] == nil { folders[id] = path }
        }
        for inner in collection["subCollections"].elements { try add(inner, below: path, depth: depth + 1) }
    }

    private func entry(_ item: JSONItem, place: String) throws(CofferError) -> ExchangeEntry {
        guard item.isObject, item["credentials"].isList else { throw .malformed("\(place) has no list 'credentials'") }
        var entry = ExchangeEntry(place: place)
        entry.title = try item["title"].text() ?? ""
        entry.folder = try item["id"].text().flatMap { folders[$0] } ?? []
        entry.dates.created = item["creationAt"].integer.flatMap(Self.milliseconds)
        entry.dates.modified = item["modifiedAt"].integer.flatMap(Self.milliseconds)
        for tag in item["tags"].elements { if let tag = try tag.text() { entry.tags.append(tag) } }
        if item["favorite"].isTrue { entry.tags.append("favorite") }
        let credentials = item["credentials"].elements
        entry.kind = try kind(credentials)
        for part in credentials {
            guard try part["type"].text() == "basic-auth" else { continue }
            try entry.add(ExchangeEntry.password, try Self.value(of: part["password"]))
            try entry.add(ExchangeEntry.username, try Self.value(of: part["username"]))
        }
        for url in item["scope"]["urls"].elements { try entry.add(ExchangeEntry.url, try url.secret()) }
        for part in credentials { try add(part, to: &entry) }
        return entry
    }

    /// Seconds, as the format has them, unless they are too many to be.
    private static func milliseconds(_ seconds: Int64) -> Int64? {
        seconds.magnitude < 1 << 40 ? seconds * 1000 : nil
    }

    private func kind(_ credentials: [JSONItem]) throws(CofferError) -> ExchangeEntry.Kind {
        let types = try credentials.map { (part) throws(CofferError) in try part["type"].text() ?? "" }
        if types.contains("basic-auth") || types.contains("passkey") { return .login }
        if types.contains("credit-card") { return .card }
        if types.contains("ssh-key") { return .key }
        if types.contains("note") { return .note }
        return types.contains("person-name") || types.contains("address") ? .identity : .secret
    }

    private func add(_ part: JSONItem, to entry: inout ExchangeEntry) throws(CofferError) {
        switch try part["type"].text() ?? "" {
        case "basic-auth": break
        case "totp": try addOneTimeKey(part, to: &entry)
        case "note":
            let text = try Self.value(of: part["content"])
            if entry.notes == nil { try entry.setNotes(text) } else { try entry.add("note", text) }
        case "custom-fields":
            for field in part["fields"].elements {
                try entry.add(try field["label"].text() ?? "", try Self.value(of: field))
            }
        case "generated-password":
            let name = entry[ExchangeEntry.password] == nil ? ExchangeEntry.password : "generated password"
            try entry.add(name, try part["password"].secret())
        case "file":
            let name = try Self.value(of: part["name"])?.exposeText() ?? ""
            try entry.leaveOut(.attachment(name), because: "the JSON has no bytes of files")
        case "item-reference": try entry.leaveOut(.field("item-reference"), because: "it refers to another item")
        case let type:
            for (key, value) in part.members where key != "type" {
                let isEditable = value.isObject && !value["value"].isNull
                try entry.add("\(type) \(key)", all: isEditable ? value["value"] : value)
            }
        }
    }

    private func addOneTimeKey(_ part: JSONItem, to entry: inout ExchangeEntry) throws(CofferError) {
        guard let key = try part["secret"].secret(), key.count > 0 else { return }
        let algorithm = try part["algorithm"].text()?.uppercased() ?? "SHA1"
        let digits = part["digits"].integer ?? 6
        let period = part["period"].integer ?? 30
        var parameters = ""
        if algorithm != "SHA1" { parameters += "&algorithm=\(OneTimeKey.escaped(algorithm))" }
        if digits != 6 { parameters += "&digits=\(digits)" }
        if period != 30 { parameters += "&period=\(period)" }
        if let issuer = try part["issuer"].text() { parameters += "&issuer=\(OneTimeKey.escaped(issuer))" }
        let label = try part["username"].text() ?? entry.title
        let address = try key.withBytes { (bytes) throws(CofferError) in
            try OneTimeKey.address(key: bytes, kind: "totp", label: label, parameters)
        }
        try entry.addOneTimeKey(address)
    }

    /// The value of an editable field, which may be a bare string.
    private static func value(of field: JSONItem) throws(CofferError) -> Secret? {
        field.isObject ? try field["value"].secret() : try field.secret()
    }
}
