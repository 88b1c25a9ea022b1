/// The identifier of a request: chosen by the client, and unique among its unanswered requests.
package enum RequestID: Hashable, Sendable {
    /// A whole number.
    case integer(Int64)
    /// A text of at most ``maximumTextBytes`` bytes.
    case string(String)

    /// The maximum size of a text: the daemon keeps it while the request runs.
    package static let maximumTextBytes = 64
}

extension RequestID {
    /// Parses an identifier.
    ///
    /// - Parameter value: An integer or a short text; anything else gives `nil`.
    init?(_ value: JSONValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .string(let text) where text.utf8.count <= Self.maximumTextBytes: self = .string(text)
        default: return nil
        }
    }

    /// The identifier in a message.
    var json: JSONValue {
        switch self {
        case .integer(let number): .integer(number)
        case .string(let text): .string(text)
        }
    }
}
