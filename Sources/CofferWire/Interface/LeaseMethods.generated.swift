// packaging/interface writes this file from proto-docs/openrpc.json.

package import CofferCore

/// The parameters of `lease.grant`.
///
/// Grants clients the right to read an item for a limited time.
package struct LeaseGrantParameters: MethodParameters {
    package typealias Result = LeaseGrantResult
    package static var method: Method { .leaseGrant }
    /// The name of the item.
    package let name: ItemName
    /// The clients that may read the item.
    package let client: ClientPattern
    /// How many seconds the lease lasts.
    package let seconds: Int64
    /// How often the item may be read.
    ///
    /// Absent means: no bound.
    package let uses: Int64?
    /// What the lease is for.
    ///
    /// The audit records it with each use. Absent means: nothing.
    package let reason: String?

    package init(
        name: ItemName,
        client: ClientPattern,
        seconds: Int64,
        uses: Int64? = nil,
        reason: String? = nil
    ) {
        self.name = name
        self.client = client
        self.seconds = seconds
        self.uses = uses
        self.reason = reason
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        client = try reader.client("to")
        seconds = try reader.integer("seconds", in: 1...Int64(Limits.leaseSeconds))
        uses = try reader.optionalInteger("uses", in: 1...Int64(Limits.leaseUses))
        reason = try reader.optionalString("reason")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("to", client)
        object.append("seconds", seconds)
        object.append("uses", uses)
        object.append("reason", reason)
        return object
    }
}

/// A lease that was granted.
package struct LeaseGrantResult: Hashable, WireObject {
    /// The number of the lease.
    package let number: Int64

    package init(number: Int64) {
        self.number = number
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("lease", in: 1...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("lease", number)
        return object
    }
}

/// The parameters of `lease.list`.
///
/// Lists a page of leases, in the order in which they were granted.
package struct LeaseListParameters: MethodParameters {
    package typealias Result = LeasePage
    package static var method: Method { .leaseList }
    /// The number of the lease after which the page begins.
    ///
    /// Absent means: from the beginning.
    package let after: Int64?

    package init(after: Int64? = nil) {
        self.after = after
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 1...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("after", after)
        return object
    }
}

/// A page of leases.
public struct LeasePage: Hashable, Sendable {
    /// The leases.
    public let leases: [LeaseInfo]
    /// The number of the last lease of the page, for the next page.
    ///
    /// It is absent after the last page.
    public let next: Int64?
    /// The numbers of damaged leases, which grant nothing.
    ///
    /// The first page has them.
    public let damaged: [Int64]

    package init(leases: [LeaseInfo], next: Int64? = nil, damaged: [Int64]) {
        self.leases = leases
        self.next = next
        self.damaged = damaged
    }
}

extension LeasePage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        leases = try reader.values("leases", of: LeaseInfo.self)
        next = try reader.optionalInteger("next", in: 1...Int64.max)
        damaged = try reader.integers("damaged")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("leases", leases)
        object.append("next", next)
        object.append("damaged", damaged)
        return object
    }
}

/// The parameters of `lease.revoke`.
///
/// Ends a lease.
package struct LeaseRevokeParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .leaseRevoke }
    /// The number of the lease.
    package let number: Int64

    package init(number: Int64) {
        self.number = number
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("lease", in: 1...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("lease", number)
        return object
    }
}
