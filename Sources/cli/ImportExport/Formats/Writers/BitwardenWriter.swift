internal import CofferClient

/// Writes the JSON that Bitwarden imports.
enum BitwardenWriter {
    static func text(of entries: [ExchangeEntry]) throws(CofferError) -> Secret {
        let folders = folders(of: entries)
        var json = try JSONText()
        try json.object { (json) throws(CofferError) in
            try json.literal("encrypted", "false")
            try json.list("folders") { (json) throws(CofferError) in
                for folder in folders {
                    try json.object { (json) throws(CofferError) in
                        try json.text("id", identifier(folder.number))
                        try json.text("name", folder.name)
                    }
                }
            }
            try json.list("items") { (json) throws(CofferError) in
                for (index, entry) in entries.enumerated() {
                    let path = entry.folder.joined(separator: "/")
                    let folder = folders.first { $0.name == path }
                    try write(
                        entry,
                        folder.map { identifier($0.number) },
                        identifier(folders.count + index + 1),
                        to: &json
                    )
                }
            }
        }
        return try json.finish()
    }

    private static func folders(of entries: [ExchangeEntry]) -> [(name: String, number: Int)] {
        let names = Set(entries.map { $0.folder.joined(separator: "/") }).filter { !$0.isEmpty }.sorted()
        return names.enumerated().map { ($0.element, $0.offset + 1) }
    }

    /// An identifier in the form of a UUID, which only has to be another one for each part of the file.
    private static func identifier(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    private static func write(
        _ entry: ExchangeEntry,
        _ folder: String?,
        _ id: String,
        to json: inout JSONText
    ) throws(CofferError) {
        let isLogin = !entry.fields.isEmpty
        let standard = [ExchangeEntry.password, ExchangeEntry.username, ExchangeEntry.otp]
        let urls = entry.fields.filter { $0.name.isURL }
        let others = entry.fields.filter { !standard.contains($0.name) && !$0.name.isURL }
        try json.object { (json) throws(CofferError) in
            try json.text("id", id)
            try json.literal("organizationId", "null")
            if let folder { try json.text("folderId", folder) } else { try json.literal("folderId", "null") }
            try json.literal("type", isLogin ? "1" : "2")
            try json.literal("reprompt", "0")
            try json.text("name", entry.title)
            try json.value("notes", entry.notes)
            try json.literal("favorite", entry.tags.contains("favorite") ? "true" : "false")
            if let created = entry.dates.created { try json.text("creationDate", ExchangeDate.iso(created)) }
            if let modified = entry.dates.modified { try json.text("revisionDate", ExchangeDate.iso(modified)) }
            try json.list("fields") { (json) throws(CofferError) in
                for field in others {
                    try json.object { (json) throws(CofferError) in
                        try json.text("name", field.name)
                        try json.value("value", field.value)
                        try json.literal("type", "1")
                    }
                }
            }
            guard isLogin else {
                return try json.object("secureNote") { (json) throws(CofferError) in try json.literal("type", "0") }
            }
            try json.object("login") { (json) throws(CofferError) in
                try json.list("uris") { (json) throws(CofferError) in
                    for url in urls {
                        try json.object { (json) throws(CofferError) in
                            try json.literal("match", "null")
                            try json.value("uri", url.value)
                        }
                    }
                }
                try json.value("username", entry[ExchangeEntry.username])
                try json.value("password", entry[ExchangeEntry.password])
                try json.value("totp", try entry.oneTimeKeyForBitwarden)
            }
        }
    }
}

extension String {
    /// Whether a field is an address of a site, of which there may be several.
    var isURL: Bool { self == ExchangeEntry.url || wholeMatch(of: /url [0-9]+/) != nil }
}
