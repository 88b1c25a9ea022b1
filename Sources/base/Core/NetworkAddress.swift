/// What two spellings of an address have in common, after RFC 3986, section 6.2.
///
/// The case of the scheme and of the host says nothing, and neither does the port that the scheme implies.
package enum NetworkAddress {
    private static let defaultPorts: [String: Int64] = [
        "https": 443, "http": 80, "wss": 443, "ws": 80, "ssh": 22, "sftp": 22, "git": 9418, "svn": 3690, "ftp": 21,
        "ftps": 990, "ldap": 389, "ldaps": 636, "imap": 143, "imaps": 993, "smtp": 25, "smtps": 465, "submission": 587,
        "pop3": 110, "pop3s": 995, "postgres": 5432, "postgresql": 5432, "mysql": 3306, "redis": 6379, "rdp": 3389,
    ]

    /// The port that a scheme implies; of one such as `git+ssh`, the last part does.
    package static func defaultPort(of scheme: String) -> Int64? {
        defaultPorts[lowercased(scheme).split(separator: "+").last.map(String.init) ?? ""]
    }

    /// The text with the letters of ASCII in lower case: what other letters a host has is not for this to compare.
    package static func lowercased(_ text: String) -> String {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: text.utf8.map { letters.contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
