internal import CofferClient

/// Writes CSV of RFC 4180 with the columns of Bitwarden, which most programs import.
package enum CSVWriter {
    private static let columns = [
        "folder", "favorite", "type", "name", "notes", "fields", "reprompt", "login_uri", "login_username",
        "login_password", "login_totp",
    ]

    static func text(of entries: [ExchangeEntry]) throws(CofferError) -> Secret {
        var output = try SecretBuffer(capacity: 4096)
        try output.append(columns.joined(separator: ",") + "\r\n")
        for entry in entries {
            let values = try values(of: entry)
            for (index, value) in values.enumerated() {
                if index > 0 { try output.append(",") }
                try append(value, to: &output)
            }
            try output.append("\r\n")
        }
        return try output.finish()
    }

    private static func values(of entry: ExchangeEntry) throws(CofferError) -> [Secret] {
        func plain(_ text: String) throws(CofferError) -> Secret { try Secret(bulk: text) }
        let none = Secret(nil)
        let isLogin = !entry.fields.isEmpty
        return [
            try plain(entry.folder.joined(separator: "/")), try plain(entry.tags.contains("favorite") ? "1" : ""),
            try plain(isLogin ? "login" : "note"), try plain(entry.title), entry.notes ?? none, try fields(of: entry),
            try plain("0"), entry[ExchangeEntry.url] ?? none, entry[ExchangeEntry.username] ?? none,
            entry[ExchangeEntry.password] ?? none, entry[ExchangeEntry.otp] ?? none,
        ]
    }

    /// The other fields, one on each line.
    private static func fields(of entry: ExchangeEntry) throws(CofferError) -> Secret {
        let standard = [ExchangeEntry.password, ExchangeEntry.username, ExchangeEntry.url, ExchangeEntry.otp]
        var output = try SecretBuffer()
        for field in entry.fields where !standard.contains(field.name) {
            guard field.value.withBytes({ $0.place(of: 10, in: 0..<$0.byteCount) }) == nil else {
                throw .malformed(
                    "\(entry.place): the field \(quotedForDisplay(field.name)) has several lines, which CSV can't hold",
                    hint: "the formats bitwarden and cxf can"
                )
            }
            if output.count > 0 { try output.append("\n") }
            try output.append("\(field.name): ")
            try output.append(field.value)
        }
        return try output.finish()
    }

    private static func append(_ value: Secret, to output: inout SecretBuffer) throws(CofferError) {
        try value.withBytes { (bytes) throws(CofferError) in
            // A formula stays a text in a spreadsheet, and quotes keep it in its column.
            let needsQuotes =
                (0..<bytes.byteCount).contains { [10, 13, 0x22, 0x2C].contains(bytes.byte(at: $0)) } || bytes.isFormula
                || bytes.trimmed(0..<bytes.byteCount).count < bytes.byteCount
            guard needsQuotes else { return try output.append(bytes) }
            try output.append("\"")
            for place in 0..<bytes.byteCount {
                let byte = bytes.byte(at: place)
                if byte == UInt8(ascii: "\"") { try output.append(byte) }
                try output.append(byte)
            }
            try output.append("\"")
        }
    }

    /// The entries of which a spreadsheet would evaluate a value as a formula.
    package static func formulas(in entries: [ExchangeEntry]) -> [ExchangeEntry] {
        entries.filter { entry in
            let values = entry.fields.map(\.value) + (entry.notes.map { [$0] } ?? [])
            return values.contains { $0.withBytes { $0.isFormula } } || "=+-@".contains(entry.title.first ?? "a")
        }
    }
}

extension RawSpan {
    /// Whether a spreadsheet takes the text for a formula.
    fileprivate var isFormula: Bool { byteCount > 0 && [0x3D, 0x2B, 0x2D, 0x40, 9, 13].contains(byte(at: 0)) }
}
