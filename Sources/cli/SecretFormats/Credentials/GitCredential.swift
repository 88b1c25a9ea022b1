package import CofferClient

/// A credential that git gets.
package struct GitCredential {
    /// The key of git, and the name of the line below the password.
    static let refreshToken = "oauth_refresh_token"

    private let username: String?
    private let password: Secret?
    private let refreshToken: Secret?
    private let expiryDate: Int64?

    /// The credential of an internet password, whose first line is the password.
    ///
    /// - Returns: `nil` if git can't be given any of it: it has expired, or is no text.
    package init?(_ item: KeychainItemInfo, _ content: Secret) throws(CofferError) {
        let attributes = item.attributes ?? [:]
        if case .text(let account) = attributes[.account] { username = account } else { username = nil }
        if case .date(let date) = attributes[.expiryDate] { expiryDate = date } else { expiryDate = nil }
        let lines = content.withBytes { bytes in
            bytes.lines.map { (range: $0, isToken: bytes.begins(with: "\(Self.refreshToken): ", in: $0)) }
        }
        func part(_ range: Range<Int>) throws(CofferError) -> Secret {
            try content.withBytes { (bytes) throws(CofferError) in try Secret(copying: bytes.extracting(range)) }
        }
        // A program that logs in anew with the token of an expired password needs that alone.
        password = item.isExpired ? nil : try part(lines.first?.range ?? 0..<0)
        refreshToken = try lines.dropFirst().first(where: \.isToken).map { (line) throws(CofferError) in
            try part(line.range.dropFirst(Self.refreshToken.utf8.count + 2))
        }
        guard password != nil || refreshToken != nil, isText else { return nil }
    }

    /// The credential of a login.
    package init?(username: String, password: Secret) {
        self.username = username
        self.password = password
        refreshToken = nil
        expiryDate = nil
        guard isText else { return nil }
    }

    /// Whether each value fits on its line.
    private var isText: Bool {
        let values = [password, refreshToken].compactMap(\.self)
        return (username?.utf8.allSatisfy { $0 != 0 && $0 != 10 } ?? true)
            && values.allSatisfy { $0.withBytes { !$0.contains([0]) && !$0.contains([10]) } }
    }

    /// The lines that git reads.
    package func lines() throws(CofferError) -> Secret {
        let expiry = password == nil ? nil : expiryDate.map { String($0 / 1000) }
        let secrets = [("password", password), (Self.refreshToken, refreshToken)]
        let head = [("username", username), ("password_expiry_utc", expiry)].compactMap { key, value in
            value.map { "\(key)=\($0)\n" }
        }.joined()
        let size = secrets.reduce(head.utf8.count) { $0 + $1.0.utf8.count + 2 + ($1.1?.count ?? 0) }
        return try Secret(capacity: size) { (output) in
            output.append(Array(head.utf8))
            for case (let key, let value?) in secrets {
                output.append(Array("\(key)=".utf8))
                value.withBytes { output.append($0) }
                output.append([10])
            }
        }
    }
}

extension RawSpan {
    /// The places of the lines, without their ends.
    fileprivate var lines: [Range<Int>] {
        var (lines, start): ([Range<Int>], Int) = ([], textStart)
        for place in textStart..<byteCount where byte(at: place) == 10 {
            lines.append(start..<place)
            start = place + 1
        }
        return start < byteCount || lines.isEmpty ? lines + [start..<byteCount] : lines
    }

    fileprivate func begins(with text: String, in range: Range<Int>) -> Bool {
        range.count >= text.utf8.count && has(text.utf8, at: range.prefix(text.utf8.count))
    }
}
