internal import CofferClient
internal import CofferMemory

/// The XML that KeePass 2 and KeePassXC export.
struct KeePassReader {
    private let root: MarkupElement
    private let binaries: [String: MarkupElement]
    private let trash: String?
    private var list = ExchangeList()
    private var trashed = 0

    static func entries(of content: Secret) throws(CofferError) -> ExchangeList {
        let file = try MarkupElement.root(of: content)
        guard file.name == "KeePassFile", let root = file.child("Root")?.child("Group") else {
            throw .malformed("this is not the XML of KeePass: it has no <KeePassFile> with a <Root>")
        }
        var reader = try KeePassReader(file, root)
        // The outermost group is the database.
        try reader.add(root, [])
        if reader.trashed > 0 {
            let words = counted(
                reader.trashed,
                "entry in the recycle bin is left out",
                "entries in the recycle bin are left out"
            )
            reader.list.remarks.append(words)
        }
        return reader.list
    }

    private init(_ file: MarkupElement, _ root: MarkupElement) throws(CofferError) {
        self.root = root
        var binaries: [String: MarkupElement] = [:]
        for binary in file.child("Meta")?.child("Binaries")?.all("Binary") ?? [] {
            if let id = binary.attributes["ID"] { binaries[id] = binary }
        }
        self.binaries = binaries
        trash = try file.child("Meta")?.child("RecycleBinUUID")?.plainText()
    }

    private mutating func add(_ group: MarkupElement, _ path: [String]) throws(CofferError) {
        if let trash, !trash.isEmpty, try group.child("UUID")?.plainText() == trash {
            trashed += count(group)
            return
        }
        for entry in group.all("Entry") {
            let entry = try self.entry(entry, path)
            if !entry.isEmpty { try list.append(entry) }
        }
        for inner in group.all("Group") { try add(inner, path + [try inner.child("Name")?.plainText() ?? ""]) }
    }

    private func count(_ group: MarkupElement) -> Int {
        group.all("Entry").count + group.all("Group").reduce(0) { $0 + count($1) }
    }

    private func entry(_ element: MarkupElement, _ path: [String]) throws(CofferError) -> ExchangeEntry {
        var entry = ExchangeEntry(place: "line \(element.line)")
        entry.folder = path
        var values: [(name: String, value: Secret)] = []
        for string in element.all("String") {
            guard let key = try string.child("Key")?.plainText(), let value = string.child("Value") else { continue }
            guard value.attributes["Protected"] != "True" else {
                throw .malformed(
                    "line \(value.line): a value is encrypted, so this is the inside of a database, and no export",
                    hint: "export it as XML in the program, or import the database with the format keepass"
                )
            }
            values.append((key, try value.text()))
        }
        func value(_ key: String) -> Secret? { values.first { $0.name == key }?.value }
        entry.title = value("Title")?.exposeText() ?? ""
        try entry.add(ExchangeEntry.password, value("Password"))
        try entry.add(ExchangeEntry.username, value("UserName"))
        try entry.add(ExchangeEntry.url, value("URL"))
        let standard = ["Title", "Password", "UserName", "URL", "Notes"]
        for (name, value) in values where !standard.contains(name) {
            if name == "otp" { try entry.addOneTimeKey(value) } else { try entry.add(name, value) }
        }
        try entry.setNotes(value("Notes"))
        if entry.fields.isEmpty { entry.kind = .note }
        entry.tags = (try element.child("Tags")?.plainText() ?? "").split { $0 == ";" || $0 == "," }.map(String.init)
        try addDates(element, to: &entry)
        for binary in element.all("Binary") {
            if let attachment = try attachment(binary) { entry.attachments.append(attachment) }
        }
        return entry
    }

    private func addDates(_ element: MarkupElement, to entry: inout ExchangeEntry) throws(CofferError) {
        guard let times = element.child("Times") else { return }
        entry.created = try times.child("CreationTime").flatMap(date)
        entry.modified = try times.child("LastModificationTime").flatMap(date)
        if try times.child("Expires")?.plainText() == "True" {
            entry.expires = try times.child("ExpiryTime").flatMap(date)
        }
    }

    private func date(_ element: MarkupElement) throws(CofferError) -> Int64? {
        let text = try element.plainText()
        if let date = ExchangeDate.milliseconds(iso: text) { return date }
        // A version 4 of the format has seconds since the year 1, in base64.
        guard let bytes = Base64.decode(text), bytes.count == 8 else { return nil }
        let seconds = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard seconds < 1 << 40 else { return nil }
        return (Int64(seconds) - 62_135_596_800) * 1000
    }

    private func attachment(_ element: MarkupElement) throws(CofferError) -> ExchangeEntry.Attachment? {
        guard let name = try element.child("Key")?.plainText(), let value = element.child("Value") else { return nil }
        let source = value.attributes["Ref"].map { binaries[$0] } ?? value
        guard let source else { throw .malformed("line \(value.line): the attached file is not in the XML") }
        guard source.attributes["Compressed"] != "True" else {
            throw .malformed(
                "line \(source.line): an attached file is compressed",
                hint: "export the database again with KeePassXC, which does not compress them"
            )
        }
        let text = try source.text()
        let content = try text.withBytes { (bytes) throws(CofferError) -> Secret in
            do { return Secret(try Base64.decode(bytes)) } catch {
                throw .malformed("line \(source.line): the attached file is not base64")
            }
        }
        return ExchangeEntry.Attachment(name: name, content: content)
    }
}
