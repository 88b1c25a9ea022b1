/// What ties a response to its request: chosen by the client, unique among its requests that wait.
package enum RequestID: Hashable, Sendable {
    /// A whole number.
    case integer(Int64)
    /// A text of at most ``maximumTextBytes`` bytes.
    case string(String)

    /// The bytes of an identifier that is a text: the daemon keeps it for as long as the request runs.
    package static let maximumTextBytes = 64
}

extension RequestID {
    /// Reads an identifier.
    ///
    /// - Parameter value: An integer or a short text; anything else gives `nil`.
    init?(_ value: JSONValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .string(let text) where text.utf8.count <= Self.maximumTextBytes: self = .string(text)
        default: return nil
        }
    }

    /// The identifier as it stands in a message.
    var json: JSONValue {
        switch self {
        case .integer(let number): .integer(number)
        case .string(let text): .string(text)
        }
    }
}
