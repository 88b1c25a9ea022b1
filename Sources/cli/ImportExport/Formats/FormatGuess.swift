internal import CofferClient

/// Which format a file looks like, for an error that says so.
enum FormatGuess {
    /// The format; `nil` if it looks like none.
    static func format(of content: Secret) -> ImportFormat? {
        content.withBytes { bytes in
            if bytes.has("PK\u{3}\u{4}", at: 0) { return .onePUX }
            if bytes.byteCount >= 4, (0..<4).map({ bytes.byte(at: $0) }) == [0x03, 0xD9, 0xA2, 0x9A] {
                return .keepass
            }
            let start = bytes.textStart
            return format(ofText: bytes.plainText(start..<max(start, min(bytes.byteCount, Limits.guessedBytes))))
        }
    }

    private static func format(ofText text: String) -> ImportFormat? {
        let start = text.drop(while: \.isWhitespace)
        if start.hasPrefix("{") { return formatOfJSON(start) }
        if start.hasPrefix("<") { return start.contains("<KeePassFile") ? .keepassXML : nil }
        if start.hasPrefix("keychain: \"") { return .macosKeychain }
        if start.hasPrefix("[/"), start.contains("\nsecret = ") { return .secretService }
        let first = String(start.prefix { !$0.isNewline })
        if first.contains(/^https?:\/\/[^\/@\s]+@[^\s,]+$/) { return .gitCredentials }
        if CSVReader.looksLikeHeader(first) { return .csv }
        if start.contains(/(?m)^\s*(machine\s+\S+|default)\s+(login|password|account)\s/) { return .netrc }
        if first.contains(/^[^:\s,]+:(\d+|\*):[^:]*:[^:]*:/) { return .pgpass }
        if start.contains(/(?m)^(export )?[A-Za-z_][A-Za-z0-9_]*=/) { return .dotenv }
        return nil
    }

    private static func formatOfJSON(_ text: Substring) -> ImportFormat? {
        if text.contains("\"exporterRpId\"") { return .cxf }
        if text.contains("\"auths\"") || text.contains("\"credHelpers\"") { return .docker }
        let isBitwarden = text.contains("\"encrypted\"") || text.contains("\"folders\"") || text.contains("\"login\"")
        return isBitwarden ? .bitwarden : nil
    }
}
