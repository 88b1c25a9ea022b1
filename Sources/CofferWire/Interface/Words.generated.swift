// packaging/interface writes this file from proto-docs/openrpc.json.

/// How the content was delivered.
public enum Delivery: String, CaseIterable, Sendable {
    /// As the payload of the reply.
    case payload
    /// Written to the descriptor that was passed.
    case descriptor
}
