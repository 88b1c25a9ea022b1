internal import CofferClient
internal import CofferMemory

/// The XML that KeePass 2 and KeePassXC export.
struct KeePassReader {
    private let root: MarkupElement
    private let binaries: [String: MarkupElement]
    private let trash: String?
    private var list = ExchangeList()
    /// Decompresses data in the format of gzip.
    private let inflate: Inflater
    private var attachedBytes = 0

    typealias Inflater = (Secret) throws(CofferError) -> Secret

    static func entries(of content: Secret, _ inflate: @escaping Inflater) throws(CofferError) -> ExchangeList {
        let file = try MarkupElement.root(of: content)
        guard file.name == "KeePassFile", let root = file.child("Root")?.child("Group") else {
            throw .malformed("this is not the XML of KeePass: it has no <KeePassFile> with a <Root>")
        }
        var reader = try KeePassReader(file, root, inflate)
        // The outermost group is the database.
        try reader.add(root, [])
        return reader.list
    }

    private init(_ file: MarkupElement, _ root: MarkupElement, _ inflate: @escaping Inflater) throws(CofferError) {
        self.root = root
        self.inflate = inflate
        var binaries: [String: MarkupElement] = [:]
        for binary in file.child("Meta")?.child("Binaries")?.all("Binary") ?? [] {
            if let id = binary.attributes["ID"] { binaries[id] = binary }
        }
        self.binaries = binaries
        trash = try file.child("Meta")?.child("RecycleBinUUID")?.plainText()
    }

    private mutating func add(_ group: MarkupElement, _ path: [String]) throws(CofferError) {
        if let trash, !trash.isEmpty, try group.child("UUID")?.plainText() == trash { return try leaveOut(group) }
        for element in group.all("Entry") {
            let title = try Self.title(of: element)
            let outcome = Result<ExchangeEntry?, CofferError> { () throws(CofferError) in try entry(element, path) }
            try list.take("line \(element.line)", title, outcome)
        }
        for inner in group.all("Group") { try add(inner, path + [try inner.child("Name")?.plainText() ?? ""]) }
    }

    /// Notes the entries of the recycle bin.
    private mutating func leaveOut(_ group: MarkupElement) throws(CofferError) {
        for element in group.all("Entry") {
            var entry = ExchangeEntry(place: "line \(element.line)")
            entry.title = try Self.title(of: element)
            try list.leaveOut(entry, because: "it is in the recycle bin")
        }
        for inner in group.all("Group") { try leaveOut(inner) }
    }

    private static func title(of element: MarkupElement) throws(CofferError) -> String {
        for string in element.all("String") {
            guard let value = string.child("Value"), value.attributes["Protected"] != "True" else { continue }
            if try string.child("Key")?.plainText() == "Title" { return try value.text().exposeText() ?? "" }
        }
        return ""
    }

    private mutating func entry(_ element: MarkupElement, _ path: [String]) throws(CofferError) -> ExchangeEntry {
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
        var rest = values.filter { !["Title", "Password", "UserName", "URL", "Notes"].contains($0.name) }
        for (name, value) in rest where name.hasPrefix("KP2A_URL") { try entry.add(ExchangeEntry.url, value) }
        rest.removeAll { $0.name.hasPrefix("KP2A_URL") }
        try entry.addOneTimeKeys(ofKeePass: &rest)
        for (name, value) in rest { try entry.add(name, value) }
        try entry.setNotes(value("Notes"))
        for field in entry.fields where field.value.withBytes({ $0.has("{REF:", at: 0) }) {
            try entry.leaveOut(.kept(field.name), because: "it refers to a field of another entry")
        }
        if entry.fields.isEmpty { entry.kind = .note }
        entry.tags = (try element.child("Tags")?.plainText() ?? "").split { $0 == ";" || $0 == "," }.map(String.init)
        try addDates(element, to: &entry)
        for binary in element.all("Binary") {
            let name = try binary.child("Key")?.plainText() ?? ""
            do throws(CofferError) {
                let content = try attachedContent(binary)
                attachedBytes += content.count
                guard attachedBytes <= Limits.importFileBytes else { throw .attachmentsTooLarge }
                entry.attachments.append(ExchangeEntry.Attachment(name: name, content: content))
            } catch {
                guard [.param, .dataTooLarge, .io, .notAvailable].contains(error.code) else { throw error }
                try entry.leaveOut(.attachment(name), because: error.message)
            }
        }
        return entry
    }

    private func addDates(_ element: MarkupElement, to entry: inout ExchangeEntry) throws(CofferError) {
        guard let times = element.child("Times") else { return }
        entry.dates.created = try times.child("CreationTime").flatMap(date)
        entry.dates.modified = try times.child("LastModificationTime").flatMap(date)
        if try times.child("Expires")?.plainText() == "True" {
            entry.dates.expires = try times.child("ExpiryTime").flatMap(date)
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

    private func attachedContent(_ element: MarkupElement) throws(CofferError) -> Secret {
        guard let value = element.child("Value") else { throw .malformed("it has no <Value>") }
        let source = value.attributes["Ref"].map { binaries[$0] } ?? value
        guard let source else { throw .malformed("its bytes are not in the XML") }
        guard source.attributes["Protected"] != "True" else { throw .malformed("it is encrypted") }
        let text = try source.text()
        let content = try text.withBytes { (bytes) throws(CofferError) -> Secret in
            do { return Secret(try Base64.decode(bytes)) } catch { throw .malformed("it is not base64") }
        }
        return source.attributes["Compressed"] == "True" ? try inflate(content) : content
    }
}
