// packaging/tools/interface writes this file from proto-docs/openrpc.json.

/// What the client uses.
public enum BlockerUse: String, CaseIterable, Sendable {
    /// A file that it has open.
    case handle
    /// A content that is being read from its descriptor, or written to it.
    case transfer
}

/// How the content was delivered.
public enum Delivery: String, CaseIterable, Sendable {
    /// As the payload of the reply.
    case payload
    /// Written to the descriptor that was passed.
    case descriptor
}
