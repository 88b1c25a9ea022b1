package import CofferClient

/// What git asks of a credential helper: lines `key=value`, up to an empty line or the end.
///
/// Keys that are not known are ignored, whatever their size, and so are those that say how git would like to log in:
/// `wwwauth[]`, `capability[]` and `state[]`.
package struct GitRequest {
    private(set) var `protocol`: String?
    /// The host, with its port.
    package private(set) var host: String?
    package private(set) var path: String?
    package private(set) var username: String?
    package private(set) var password: Secret?
    private(set) var refreshToken: Secret?
    /// Whether it is about a credential of another kind than a password, such as a bearer token: git 2.46 has such.
    package private(set) var isOfOtherKind = false
    /// When the password expires, in seconds since 1970.
    private(set) var expiry: Int64?

    /// A key whose value is used.
    private enum Key: String, CaseIterable {
        case `protocol`
        case host
        case path
        case username
        case password
        case expiry = "password_expiry_utc"
        case refreshToken = "oauth_refresh_token"
        case kind = "authtype"
    }

    /// Reads a request.
    ///
    /// - Throws: `param` if it is none; `dataTooLarge` if a value that is used is too long.
    package init(_ lines: consuming CredentialLines) throws(CofferError) {
        while let line = try lines.next(), line.content.count > 0 { try take(line) }
    }

    private mutating func take(_ line: CredentialLines.InputLine) throws(CofferError) {
        let content = line.content
        let mark = content.withBytes { bytes in (0..<bytes.byteCount).first { bytes.byte(at: $0) == .equals } }
        guard let mark else {
            throw CofferError(
                .param,
                "standard input is no request of git: a line has no '='",
                hint: "git writes lines such as 'host=example.com'; see gitcredentials(7)"
            )
        }
        let known = content.withBytes { bytes in Key.allCases.first { bytes.has($0.rawValue.utf8, at: 0..<mark) } }
        guard let key = known else { return }
        guard !line.isCut else { throw .tooLong(key.rawValue) }
        let value = try content.withBytes { (bytes) throws(CofferError) in
            try Secret(copying: bytes.extracting((mark + 1)..<bytes.byteCount))
        }
        guard !value.withBytes({ $0.contains([0]) }) else { throw .notText(key.rawValue) }
        try set(key, value)
    }

    private mutating func set(_ key: Key, _ value: Secret) throws(CofferError) {
        switch key {
        case .protocol: `protocol` = try Self.text(value, of: key)
        case .host: host = try Self.text(value, of: key)
        case .path: path = try Self.text(value, of: key)
        case .username: username = try Self.text(value, of: key)
        case .password: password = value
        case .refreshToken: refreshToken = value.count > 0 ? value : nil
        case .kind: isOfOtherKind = true
        // As git has it: what is no number of seconds is no expiry.
        case .expiry: expiry = Int64(try Self.text(value, of: key)).flatMap { $0 > 0 ? $0 : nil }
        }
    }

    /// A value that is no secret.
    private static func text(_ value: Secret, of key: Key) throws(CofferError) -> String {
        guard let text = value.exposeText() else { throw .notText(key.rawValue) }
        return text
    }

    // MARK: What it is about

    /// The address; `nil` if the request names none, and means no credential.
    package var address: ServerAddress? {
        guard let `protocol`, host != nil || path != nil else { return nil }
        var address = ServerAddress(host: host ?? "")
        address.protocol = `protocol`
        address.path = path ?? ""
        return address
    }

    /// The attributes of the items that the request means.
    ///
    /// One without a path or a user name means those with any.
    package var attributes: [KeychainAttribute: AttributeValue]? {
        guard var attributes = address?.attributes else { return nil }
        // Of docker's credentials, which have one, none is meant.
        attributes[.securityDomain] = .text("")
        if path == nil { attributes[.path] = nil }
        if let username { attributes[.account] = .text(username) }
        return attributes
    }

    /// The expiry as the keychain has it, in milliseconds; `nil` if it is too far off to be a date.
    package var expiryDate: Int64? {
        guard let expiry, expiry <= Int64.max / 1000 else { return nil }
        return expiry * 1000
    }

    /// What is stored: the password, and below it what belongs to it.
    package func content() throws(CofferError) -> Secret? {
        guard let password else { return nil }
        guard let refreshToken else { return password }
        let label = Array("\n\(GitCredential.refreshToken): ".utf8)
        return try Secret(capacity: password.count + label.count + refreshToken.count + 1) { (output) in
            password.withBytes { output.append($0) }
            output.append(label)
            refreshToken.withBytes { output.append($0) }
            output.append([10])
        }
    }
}

extension CofferError {
    fileprivate static func tooLong(_ key: String) -> CofferError {
        CofferError(.dataTooLarge, "git's '\(key)' makes a line of more than \(CredentialLines.maximumBytes) bytes")
    }

    fileprivate static func notText(_ key: String) -> CofferError {
        CofferError(.param, "git's '\(key)' has bytes that are no text")
    }
}
