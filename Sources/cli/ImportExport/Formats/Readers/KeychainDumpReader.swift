internal import CofferClient

/// The text of `security dump-keychain -d` on macOS.
struct KeychainDumpReader {
    /// An item of the text.
    private struct Item {
        var line = 0
        var itemClass = ""
        var attributes: [String: String] = [:]
        var data: Secret?
        var fault: CofferError?
    }

    private var list = ExchangeList()
    private var item = Item()
    private var isData = false

    static func entries(of content: Secret) throws(CofferError) -> ExchangeList {
        let start = try content.textStart()
        var reader = KeychainDumpReader()
        try content.withBytes { (bytes) throws(CofferError) in
            guard bytes.has("keychain: ", at: start) else {
                throw .malformed(
                    "this is not the text of 'security dump-keychain -d': its first line does not begin with 'keychain:'"
                )
            }
            try bytes.forEachLine { (number, line) throws(CofferError) in
                do throws(CofferError) { try reader.take(bytes, line, number) } catch {
                    guard error.code == .param, reader.item.line > 0 else { throw error }
                    reader.item.fault = error
                }
            }
        }
        try reader.finish()
        return reader.list
    }

    private mutating func take(_ bytes: RawSpan, _ line: Range<Int>, _ number: Int) throws(CofferError) {
        if bytes.has("keychain: ", at: line.lowerBound) {
            try finish()
            item = Item(line: number)
        } else if bytes.has("class: ", at: line.lowerBound) {
            let name = bytes.trimmed((line.lowerBound + 7)..<line.upperBound)
            item.itemClass = bytes.plainText(name).replacing("\"", with: "")
        } else if bytes.has("data:", at: line.lowerBound) {
            isData = true
        } else if isData {
            item.data = try Self.value(bytes, bytes.trimmed(line), number)
            isData = false
        } else if let separator = (line).first(where: { bytes.has(">=", at: $0) }) {
            let name = bytes.plainText(bytes.trimmed(line.lowerBound..<separator))
            guard let end = name.firstIndex(of: "<") else { return }
            let key = String(name[..<end]).replacing("\"", with: "")
            item.attributes[key] = try Self.value(bytes, (separator + 2)..<line.upperBound, number)?.exposeText()
        }
    }

    /// A value: `"text"` with octal escapes, `0xDIGITS  "text"`, or `<NULL>`.
    private static func value(_ bytes: RawSpan, _ range: Range<Int>, _ line: Int) throws(CofferError) -> Secret? {
        if range.isEmpty || bytes.has("<NULL>", at: range.lowerBound) { return nil }
        var output = try SecretBuffer(capacity: range.count)
        if bytes.has("0x", at: range.lowerBound) {
            var place = range.lowerBound + 2
            while place + 1 < range.upperBound, let byte = UInt8(bytes.plainText(place..<(place + 2)), radix: 16) {
                try output.append(byte)
                place += 2
            }
            return try output.finish()
        }
        guard bytes.byte(at: range.lowerBound) == UInt8(ascii: "\"") else { return nil }
        guard range.count >= 2, bytes.byte(at: range.upperBound - 1) == UInt8(ascii: "\"") else {
            throw .malformed("line \(line): a quote is opened and not closed on its line")
        }
        var place = range.lowerBound + 1
        while place < range.upperBound - 1 {
            let byte = bytes.byte(at: place)
            if byte == UInt8(ascii: "\\"), place + 3 < range.upperBound,
                let value = UInt8(bytes.plainText((place + 1)..<(place + 4)), radix: 8)
            {
                try output.append(value)
                place += 4
            } else {
                try output.append(byte)
                place += 1
            }
        }
        return try output.finish()
    }

    private mutating func finish() throws(CofferError) {
        defer {
            item = Item()
            isData = false
        }
        guard item.line > 0 else { return }
        let (place, title) = ("line \(item.line)", item.attributes["labl"] ?? item.attributes["svce"] ?? "")
        if let fault = item.fault { return try list.leaveOut(place, title, fault) }
        guard ["genp", "inet"].contains(item.itemClass) else {
            return try leaveOut(place, title, because: "it is a key or a certificate")
        }
        guard let data = item.data, data.count > 0 else {
            return try leaveOut(
                place,
                title,
                because: "it has no password: -d was not given, or reading was not allowed"
            )
        }
        let outcome = Result<ExchangeEntry?, CofferError> { () throws(CofferError) in try entry(data) }
        try list.take(place, title, outcome)
    }

    private mutating func leaveOut(_ place: String, _ title: String, because reason: String) throws(CofferError) {
        var entry = ExchangeEntry(place: place)
        entry.title = title
        try list.leaveOut(entry, because: reason)
    }

    private func entry(_ data: Secret) throws(CofferError) -> ExchangeEntry {
        var entry = ExchangeEntry(place: "line \(item.line)")
        let account = item.attributes["acct"] ?? ""
        // What is no text can't be a field beside others.
        let isText = data.withBytes { $0.isUTF8 }
        if isText { try entry.add(ExchangeEntry.password, data) } else { entry.whole = data }
        if isText && !account.isEmpty { try entry.add(ExchangeEntry.username, try Secret(bulk: account)) }
        if item.itemClass == "inet" {
            let server = item.attributes["srvr"] ?? ""
            entry.folder = [server]
            entry.title = account
            let scheme = ["htps": "https", "http": "http", "ftp ": "ftp", "ssh ": "ssh", "smb ": "smb", "imap": "imap"]
            if isText, let name = scheme[item.attributes["ptcl"] ?? ""] {
                try entry.add(
                    ExchangeEntry.url,
                    try Secret(bulk: "\(name)://\(server)\(item.attributes["path"] ?? "")")
                )
            }
        } else {
            entry.kind = .secret
            entry.folder = [item.attributes["svce"] ?? item.attributes["0x00000007"] ?? ""]
            entry.title = account
        }
        if isText, let comment = item.attributes["icmt"] { try entry.setNotes(try Secret(bulk: comment)) }
        return entry
    }
}
