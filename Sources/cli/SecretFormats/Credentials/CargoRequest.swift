package import CofferClient
internal import CofferCore

/// What cargo asks of a credential provider: one object of JSON, of which only the token is secret.
package struct CargoRequest {
    /// What is to be done.
    package enum Action: String {
        case get
        case login
        case logout
    }

    package let action: Action
    /// The address of the index, which names the registry.
    package let index: String
    /// The name of the registry in the configuration.
    package let registry: String?
    /// The token of `login`; `nil` if the person is to be asked.
    package let token: Secret?
    /// The page on which a registry shows its tokens.
    package let loginPage: String?
    /// The words behind the name of the provider in the configuration.
    package let options: [String]

    /// Reads a request, in locked memory.
    ///
    /// - Throws: `unimplemented` for an action of a later version of cargo; `param` if it is no request.
    package init(parsing json: Secret) throws(CofferError) {
        var known: [String: JSONValue] = [:]
        var token: Secret?
        try json.withBytes { (bytes) throws(CofferError) in
            guard let places = FieldPlaces(bytes), places.isObject else { throw .noCargoRequest }
            for member in places.members {
                let name = bytes.text(member.name)
                let raw = bytes.extracting(bytes.trimmed(member.value))
                guard name == "token" else {
                    known[name] = try? JSONValue(parsing: raw)
                    continue
                }
                guard !raw.has("null".utf8, at: 0..<raw.byteCount) else { continue }
                guard raw.byteCount >= 2, raw.byte(at: 0) == .quote else { throw .noCargoRequest }
                token = try FieldText.unescapedJSON(raw, of: name)
            }
        }
        guard known["v"]?.integerValue == 1, let kind = known["kind"]?.stringValue,
            let registry = known["registry"]?.objectValue, let index = registry["index-url"]?.stringValue,
            !index.isEmpty
        else { throw .noCargoRequest }
        guard let action = Action(rawValue: kind) else {
            throw CofferError(.unimplemented, "cargo's request \(quotedForDisplay(kind)) is not known")
        }
        (self.action, self.index, self.token) = (action, index, token)
        self.registry = registry["name"]?.stringValue
        loginPage = known["login-url"]?.stringValue
        options = known["args"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The answer that has a token, in locked memory.
    ///
    /// - Throws: `param` if the token is no text.
    package static func answer(with token: Secret) throws(CofferError) -> Secret {
        let token = try token.withoutLineEnd()
        let isText = token.withBytes { (try? UTF8Span(validating: Span<UInt8>(_bytes: $0))) != nil }
        guard isText else { throw CofferError(.param, "the token is no text, so cargo can't have it") }
        let (head, end) = (
            Array(#"{"Ok":{"kind":"get","token":"#.utf8),
            Array(#","cache":"session","operation_independent":true}}"#.utf8)
        )
        let value = try FieldText.escapedJSON(token)
        return try Secret(capacity: head.count + value.count + end.count + 1) { (output) in
            output.append(head)
            value.withBytes { output.append($0) }
            output.append(end)
            output.append([10])
        }
    }
}

extension CofferError {
    fileprivate static let noCargoRequest = CofferError(
        .param,
        "standard input is no request of cargo, a line of JSON with 'v': 1, 'kind' and 'registry'"
    )
}
