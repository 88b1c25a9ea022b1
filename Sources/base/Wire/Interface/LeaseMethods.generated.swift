// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `lease.grant`.
///
/// Grants clients the right to read an item for a limited time.
///
/// - Throws: `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct LeaseGrantParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = LeaseGrantResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.leaseGrant) }
    /// The name of the item.
    public let name: ItemName
    /// The clients that may read the item.
    public let client: ClientPattern
    /// How many seconds the lease lasts.
    public let seconds: Int64
    /// How often the item may be read.
    ///
    /// Absent means: no limit.
    public let uses: Int64?
    /// What the lease is for.
    ///
    /// The audit records it with each use. Absent means: nothing.
    public let reason: String?
    /// The access group of the item.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName,
        client: ClientPattern,
        seconds: Int64,
        uses: Int64? = nil,
        reason: String? = nil,
        group: String? = nil
    ) {
        self.name = name
        self.client = client
        self.seconds = seconds
        self.uses = uses
        self.reason = reason
        self.group = group
    }
}

extension LeaseGrantParameters: WireObject {
    package static var neverNull: [String] { ["uses"] }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        client = try reader.client("to")
        seconds = try reader.integer("seconds", in: 1...Int64(Limits.leaseSeconds))
        uses = try reader.optionalInteger("uses", in: 1...Int64(Limits.leaseUses))
        reason = try reader.optionalString("reason")
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 6)
        object.append("name", name)
        object.append("to", client)
        object.append("seconds", seconds)
        object.append("uses", uses)
        object.append("reason", reason)
        object.append("group", group)
        return object
    }
}

/// A lease that was granted.
public struct LeaseGrantResult: Hashable, Sendable {
    /// The number of the lease.
    public let number: Int64

    package init(number: Int64) {
        self.number = number
    }
}

extension LeaseGrantResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("lease")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("lease", number)
        return object
    }
}

/// The parameters of `lease.list`.
///
/// Lists a page of leases, in the order in which they were granted.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`,
///   `userCanceled`.
public struct LeaseListParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = LeasePage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.leaseList) }
    /// The number of the lease after which the page begins.
    ///
    /// Absent means: from the beginning.
    public let after: Int64?

    /// Makes the parameters.
    public init(after: Int64? = nil) {
        self.after = after
    }
}

extension LeaseListParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
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
    /// How many more leases there are, whose items have names that can be read after the first unlock only.
    ///
    /// The first page has it. Absent means 0.
    public let sealedCount: Int

    package init(
        leases: [LeaseInfo],
        next: Int64? = nil,
        damaged: [Int64],
        sealedCount: Int = 0
    ) {
        self.leases = leases
        self.next = next
        self.damaged = damaged
        self.sealedCount = sealedCount
    }
}

extension LeasePage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        leases = try reader.values("leases", of: LeaseInfo.self)
        next = try reader.optionalInteger("next")
        damaged = try reader.integers("damaged")
        sealedCount = try reader.optionalInteger("sealedCount", in: 0...Int64.max).map { Int($0) } ?? 0
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("leases", leases)
        object.append("next", next)
        object.append("damaged", damaged)
        if sealedCount != 0 { object.append("sealedCount", sealedCount) }
        return object
    }
}

/// The parameters of `lease.revoke`.
///
/// Ends a lease.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `itemNotFound`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct LeaseRevokeParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.leaseRevoke) }
    /// The number of the lease.
    public let number: Int64

    /// Makes the parameters.
    public init(number: Int64) {
        self.number = number
    }
}

extension LeaseRevokeParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("lease")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("lease", number)
        return object
    }
}
