internal import CofferClient

/// CSV files, whose dialect their first line tells.
struct CSVReader {
    private let text: DelimitedText
    private let columns: [CSVColumn]
    /// The folder in which all entries are, if there is one: KeePassXC writes the name of its root.
    private let root: String?

    init(_ content: Secret) throws(CofferError) {
        text = try DelimitedText(content)
        var columns = text.header.map { CSVColumn($0) }
        // A second column with the address of mail beside the user name is a field.
        let hasUsername = text.header.contains { $0.lowercased().hasSuffix("username") }
        for (index, name) in text.header.enumerated() where hasUsername && name.lowercased() == "email" {
            columns[index] = .other("email")
        }
        guard columns.contains(where: \.isPassword) else {
            throw .malformed(
                "line 1 names no column 'password': \(quotedForDisplay(text.header.joined(separator: ",")))",
                hint: "the first line names the columns, such as name,url,username,password"
            )
        }
        self.columns = columns
        root = try Self.commonFolder(text)
    }

    /// Whether a line names the columns of passwords.
    static func looksLikeHeader(_ line: String) -> Bool {
        let names = line.split { [",", ";", "\t"].contains($0) }.map { String($0).replacing("\"", with: "") }
        return names.count > 1 && names.contains { CSVColumn($0).isPassword }
    }

    func entries() throws(CofferError) -> ExchangeList {
        var list = ExchangeList()
        for row in text.rows {
            let entry = try entry(row)
            if !entry.isEmpty { try list.append(entry) }
        }
        return list
    }

    private func entry(_ row: DelimitedText.Row) throws(CofferError) -> ExchangeEntry {
        var entry = ExchangeEntry(place: "line \(row.line)")
        entry.title = try first(row) { if case .title = $0 { true } else { false } }?.exposeText() ?? ""
        // The password and what belongs to a login come first, in whatever order the columns are.
        for wanted in [ExchangeEntry.password, ExchangeEntry.username, ExchangeEntry.url, ExchangeEntry.otp] {
            for (index, column) in columns.enumerated() where column.fieldName == wanted {
                try addLoginField(wanted, try text.value(index, of: row), to: &entry)
            }
        }
        for (index, column) in columns.enumerated() {
            guard let value = try text.value(index, of: row) else { continue }
            try add(value, of: column, to: &entry)
        }
        if entry[ExchangeEntry.password] == nil && entry[ExchangeEntry.username] == nil { entry.kind = .note }
        return entry
    }

    private func addLoginField(
        _ name: String,
        _ value: Secret?,
        to entry: inout ExchangeEntry
    ) throws(CofferError) {
        guard let value else { return }
        if name == ExchangeEntry.otp { return try entry.addOneTimeKey(value) }
        // LastPass gives a note this address.
        if name == ExchangeEntry.url, value.withBytes({ $0.isText("http://sn", in: 0..<$0.byteCount) }) { return }
        try entry.add(name, value)
    }

    private func add(_ value: Secret, of column: CSVColumn, to entry: inout ExchangeEntry) throws(CofferError) {
        switch column {
        case .title, .url, .username, .password, .otp, .ignored: break
        case .notes: try entry.setNotes(value)
        case .folder: entry.folder = Self.parts(value.exposeText() ?? "", below: root)
        case .tags: entry.tags += (value.exposeText() ?? "").split { $0 == "," || $0 == ";" }.map(String.init)
        case .favorite: if ["1", "true"].contains(value.exposeText()?.lowercased()) { entry.tags.append("favorite") }
        case .created: entry.created = Self.date(value)
        case .modified: entry.modified = Self.date(value)
        case .fields: try addLines(value, to: &entry)
        case .other(let name): try entry.add(name, value)
        }
    }

    /// Takes the fields that Bitwarden writes as lines `name: value`.
    private func addLines(_ value: Secret, to entry: inout ExchangeEntry) throws(CofferError) {
        var fields: [(String, Range<Int>)] = []
        value.withBytes { bytes in
            bytes.forEachLine { _, line in
                let colon = bytes.place(of: UInt8(ascii: ":"), in: line) ?? line.lowerBound
                fields.append((bytes.plainText(line.lowerBound..<colon), bytes.trimmed(colon..<line.upperBound)))
            }
        }
        for (name, range) in fields {
            try entry.add(name, try value.part(name.isEmpty ? range : range.dropFirst().trimmed(in: value)))
        }
    }

    private func first(_ row: DelimitedText.Row, where isWanted: (CSVColumn) -> Bool) throws(CofferError) -> Secret? {
        for (index, column) in columns.enumerated() where isWanted(column) {
            if let value = try text.value(index, of: row) { return value }
        }
        return nil
    }

    /// Seconds or milliseconds since 1970, or a date of ISO 8601.
    private static func date(_ value: Secret) -> Int64? {
        guard let text = value.exposeText() else { return nil }
        guard let number = Int64(text) else { return ExchangeDate.milliseconds(iso: text) }
        return number > 100_000_000_000 ? number : number * 1000
    }

    // MARK: Folders

    private static func parts(_ folder: String, below root: String?) -> [String] {
        let parts = folder.split { $0 == "/" || $0 == "\\" }.map(String.init)
        return parts.first == root && root != nil ? Array(parts.dropFirst()) : parts
    }

    private static func commonFolder(_ text: DelimitedText) throws(CofferError) -> String? {
        guard let column = text.header.firstIndex(where: { $0 == "Group" }) else { return nil }
        var root: String?
        for row in text.rows {
            let first = parts(try text.value(column, of: row)?.exposeText() ?? "", below: nil).first
            guard let first, root == nil || root == first else { return nil }
            root = first
        }
        return root
    }
}

extension CSVColumn {
    /// The name of the field, if it is one of those of a login.
    fileprivate var fieldName: String? {
        switch self {
        case .password: ExchangeEntry.password
        case .username: ExchangeEntry.username
        case .url: ExchangeEntry.url
        case .otp: ExchangeEntry.otp
        default: nil
        }
    }
}

extension Range<Int> {
    /// The range without the white space around it.
    fileprivate func trimmed(in value: Secret) -> Range<Int> { value.withBytes { $0.trimmed(self) } }
}
