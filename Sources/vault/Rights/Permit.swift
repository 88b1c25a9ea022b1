/// What permits a request that the client's own rights don't.
package enum Permit: Sendable {
    case lease(Lease)
    /// An access rule, by its number, and the group that it is for.
    case rule(Int64, group: String)

    /// The lease, if it is one.
    package var lease: Lease? { if case .lease(let lease) = self { lease } else { nil } }

    /// The access group of the request.
    package var group: String {
        switch self {
        case .lease(let lease): lease.terms.group
        case .rule(_, let group): group
        }
    }
}
