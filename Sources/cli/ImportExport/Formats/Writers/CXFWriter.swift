internal import CofferClient
internal import CofferMemory

/// Writes the JSON of FIDO's Credential Exchange Format 1.0.
enum CXFWriter {
    static func text(of entries: [ExchangeEntry], at seconds: Int64) throws(CofferError) -> Secret {
        var json = try JSONText()
        try json.object { (json) throws(CofferError) in
            try json.object("version") { (json) throws(CofferError) in
                try json.literal("major", "1")
                try json.literal("minor", "0")
            }
            try json.text("exporterRpId", "coffer.invalid")
            try json.text("exporterDisplayName", "Coffer")
            try json.literal("timestamp", String(seconds))
            try json.list("accounts") { (json) throws(CofferError) in
                try json.object { (json) throws(CofferError) in try account(entries, &json) }
            }
        }
        return try json.finish()
    }

    private static func account(_ entries: [ExchangeEntry], _ json: inout JSONText) throws(CofferError) {
        try json.text("id", identifier("account"))
        try json.text("username", "")
        try json.text("email", "")
        try json.list("collections") { (json) throws(CofferError) in try collections(entries, below: [], &json) }
        try json.list("items") { (json) throws(CofferError) in
            for (index, entry) in entries.enumerated() {
                try json.object { (json) throws(CofferError) in try item(entry, index, &json) }
            }
        }
    }

    /// The collections below a folder, with those below them.
    private static func collections(
        _ entries: [ExchangeEntry],
        below parent: [String],
        _ json: inout JSONText
    ) throws(CofferError) {
        let inner = entries.map(\.folder).filter {
            $0.count > parent.count && $0.prefix(parent.count).elementsEqual(parent)
        }
        for name in Set(inner.map { $0[parent.count] }).sorted() {
            let path = parent + [name]
            try json.object { (json) throws(CofferError) in
                try json.text("id", identifier("folder \(path.joined(separator: "/"))"))
                try json.text("title", name)
                try json.list("items") { (json) throws(CofferError) in
                    for (index, entry) in entries.enumerated() where entry.folder == path {
                        try json.object { (json) throws(CofferError) in
                            try json.text("item", identifier("item \(index)"))
                        }
                    }
                }
                try json.list("subCollections") { (json) throws(CofferError) in
                    try collections(entries, below: path, &json)
                }
            }
        }
    }

    private static func item(_ entry: ExchangeEntry, _ index: Int, _ json: inout JSONText) throws(CofferError) {
        let urls = entry.fields.filter { $0.name.isURL }
        let standard = [ExchangeEntry.password, ExchangeEntry.username]
        let others = entry.fields.filter { !standard.contains($0.name) && !$0.name.isURL }
        try json.text("id", identifier("item \(index)"))
        if let created = entry.dates.created { try json.literal("creationAt", String(created / 1000)) }
        if let modified = entry.dates.modified { try json.literal("modifiedAt", String(modified / 1000)) }
        try json.text("title", entry.title)
        let tags = entry.tags.filter { $0 != "favorite" }
        if tags.count < entry.tags.count { try json.literal("favorite", "true") }
        if !urls.isEmpty {
            try json.object("scope") { (json) throws(CofferError) in
                try json.list("urls") { (json) throws(CofferError) in for url in urls { try json.value(nil, url.value) }
                }
                try json.list("androidApps") { (_) throws(CofferError) in }
            }
        }
        try json.list("credentials") { (json) throws(CofferError) in
            if !entry.fields.isEmpty { try login(entry, &json) }
            if !others.isEmpty { try customFields(others, &json) }
            if let notes = entry.notes {
                try json.object { (json) throws(CofferError) in
                    try json.text("type", "note")
                    try field("content", "string", notes, &json)
                }
            }
        }
        if !tags.isEmpty {
            try json.list("tags") { (json) throws(CofferError) in for tag in tags { try json.text(nil, tag) } }
        }
    }

    private static func login(_ entry: ExchangeEntry, _ json: inout JSONText) throws(CofferError) {
        try json.object { (json) throws(CofferError) in
            try json.text("type", "basic-auth")
            if let user = entry[ExchangeEntry.username] { try field("username", "string", user, &json) }
            if let password = entry[ExchangeEntry.password] {
                try field("password", "concealed-string", password, &json)
            }
        }
    }

    /// The other fields.
    ///
    /// An address of one-time codes is among them, so that none of its parameters is lost.
    private static func customFields(_ fields: [ExchangeEntry.Field], _ json: inout JSONText) throws(CofferError) {
        try json.object { (json) throws(CofferError) in
            try json.text("type", "custom-fields")
            try json.list("fields") { (json) throws(CofferError) in
                for field in fields {
                    try json.object { (json) throws(CofferError) in
                        try json.text("fieldType", "concealed-string")
                        try json.text("label", field.name)
                        try json.value("value", field.value)
                    }
                }
            }
        }
    }

    private static func field(
        _ key: String,
        _ type: String,
        _ value: Secret,
        _ json: inout JSONText
    ) throws(CofferError) {
        try json.object(key) { (json) throws(CofferError) in
            try json.text("fieldType", type)
            try json.value("value", value)
        }
    }

    /// Base64url without padding of what tells the parts of the file apart.
    private static func identifier(_ text: String) -> String {
        let hash = text.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
        return Base64.encode(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
