internal import CofferClient

/// Writes variables of a shell.
enum DotenvWriter {
    static func text(of entries: [ExchangeEntry]) throws(CofferError) -> Secret {
        var output = try SecretBuffer(capacity: 4096)
        var seen: [String: String] = [:]
        for entry in entries {
            guard let value = entry.whole ?? entry[ExchangeEntry.password] ?? entry.notes else { continue }
            let name = name(of: entry)
            if let other = seen[name] {
                throw .malformed(
                    "\(entry.place) and \(other) would both be the variable \(name)",
                    hint: "export them one by one, or rename one of them"
                )
            }
            seen[name] = entry.place
            try output.append("\(name)=")
            try append(value, to: &output)
            try output.append("\n")
        }
        return try output.finish()
    }

    /// The last part of the name, in letters, digits and `_`.
    private static func name(of entry: ExchangeEntry) -> String {
        var name = ""
        for scalar in entry.title.unicodeScalars {
            let isKept = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            name += isKept ? String(scalar) : "_"
        }
        return name.first?.isNumber ?? true ? "_\(name)" : name
    }

    private static func append(_ value: Secret, to output: inout SecretBuffer) throws(CofferError) {
        try value.withBytes { (bytes) throws(CofferError) in
            try output.append("\"")
            for place in 0..<bytes.byteCount {
                let byte = bytes.byte(at: place)
                switch byte {
                case 10: try output.append("\\n")
                case 13: try output.append("\\r")
                case 9: try output.append("\\t")
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"):
                    try output.append(UInt8(ascii: "\\"))
                    try output.append(byte)
                default: try output.append(byte)
                }
            }
            try output.append("\"")
        }
    }
}
