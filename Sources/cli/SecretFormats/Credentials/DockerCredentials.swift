package import CofferClient
internal import CofferCore

/// The credentials for one registry, in the JSON of docker's protocol.
package struct DockerCredentials {
    package private(set) var serverURL = ""
    package private(set) var username = ""
    package private(set) var secret = Secret(nil)

    package init(serverURL: String, username: String, secret: Secret) {
        self.serverURL = serverURL
        self.username = username
        self.secret = secret
    }

    /// Reads an object with the members `ServerURL`, `Username` and `Secret`, in locked memory.
    ///
    /// Others are ignored, and what is missing or `null` is empty. As in Go, capitals do not matter in names.
    package init(parsing json: Secret) throws(CofferError) {
        try json.withBytes { (bytes) throws(CofferError) in
            let all = bytes.trimmed(0..<bytes.byteCount)
            guard !all.isEmpty else { throw .docker("EOF") }
            let isEmpty = bytes.has("{}".utf8, at: all)
            guard let places = FieldPlaces(bytes), places.isObject || isEmpty else { throw .noDockerCredentials }
            for member in places.members {
                try take(bytes.text(member.name), bytes.extracting(bytes.trimmed(member.value)))
            }
        }
        if serverURL.isEmpty { throw .docker("no credentials server URL") }
        if username.isEmpty { throw .docker("no credentials username") }
    }

    private mutating func take(_ name: String, _ raw: RawSpan) throws(CofferError) {
        let name = name.lowercased()
        guard ["serverurl", "username", "secret"].contains(name), !raw.has("null".utf8, at: 0..<raw.byteCount) else {
            return
        }
        guard raw.byteCount >= 2, raw.byte(at: 0) == .quote, raw.byte(at: raw.byteCount - 1) == .quote else {
            throw .noDockerCredentials
        }
        let value = try FieldText.unescapedJSON(raw, of: name)
        switch name {
        case "secret": secret = value
        case "username": username = value.exposeText() ?? ""
        default: serverURL = value.exposeText() ?? ""
        }
    }

    /// The object on one line, in locked memory.
    package func json() throws(CofferError) -> Secret {
        let isText = secret.withBytes { (try? UTF8Span(validating: Span<UInt8>(_bytes: $0))) != nil }
        guard isText else {
            throw CofferError(
                .param,
                "the secret for \(quotedForDisplay(serverURL)) is no text, so docker can't have it"
            )
        }
        let members: [(StaticString, Secret)] = [
            ("{\"ServerURL\":", try Secret(exposed: serverURL)), (",\"Username\":", try Secret(exposed: username)),
            (",\"Secret\":", secret),
        ]
        let parts = try members.map { (member) throws(CofferError) in
            (label: Array(member.0.description.utf8), value: try FieldText.escapedJSON(member.1))
        }
        let size = parts.reduce(2) { $0 + $1.label.count + $1.value.count }
        return try Secret(capacity: size) { (output) in
            for part in parts {
                output.append(part.label)
                part.value.withBytes { output.append($0) }
            }
            output.append(Array("}\n".utf8))
        }
    }
}

extension CofferError {
    /// An error whose text docker and its relatives compare.
    package static func docker(_ text: String) -> CofferError { CofferError(.param, text) }

    fileprivate static var noDockerCredentials: CofferError {
        CofferError(.param, "standard input is no JSON object with the texts ServerURL, Username and Secret")
    }
}
