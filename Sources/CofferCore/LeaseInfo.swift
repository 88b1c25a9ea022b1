/// A lease as a listing shows it: a right to read one item, which ends by itself.
public struct LeaseInfo: Hashable, Sendable {
    /// What it is called where it is revoked; never used again in the same vault.
    public let number: Int64
    /// The name of the item.
    public let name: String
    /// Who may read it.
    public let client: ClientPattern
    /// The seconds until it ends, rounded up.
    public let seconds: Int64
    /// How often the item may still be read; `nil` where only the time bounds that.
    public let uses: Int64?
    /// What it is for, in the words of whoever granted it.
    public let reason: String?
    /// When it was granted, in milliseconds since 1970.
    public let granted: Int64

    /// Describes a lease.
    public init(
        number: Int64,
        name: String,
        client: ClientPattern,
        seconds: Int64,
        uses: Int64?,
        reason: String?,
        granted: Int64
    ) {
        self.number = number
        self.name = name
        self.client = client
        self.seconds = seconds
        self.uses = uses
        self.reason = reason
        self.granted = granted
    }
}

/// A part of a listing of leases, in the order of their granting.
public struct LeasePage: Hashable, Sendable {
    /// The leases.
    public let leases: [LeaseInfo]
    /// What the next page is asked for with; `nil` where the listing is complete.
    public let next: Int64?
    /// The numbers of those that are damaged, which give nothing to anybody: they are told with the first page.
    public let damaged: [Int64]

    /// Makes a page.
    public init(leases: [LeaseInfo], next: Int64?, damaged: [Int64]) {
        self.leases = leases
        self.next = next
        self.damaged = damaged
    }
}

extension ClientPattern {
    /// Refuses clients that no lease can be for.
    ///
    /// - Throws: `param` for a program, which whoever starts it can make do anything, and for what is no unit's name.
    package func checkLeasable() throws(CofferError) {
        switch self {
        case .user, .group: return
        case .unit(let name), .userUnit(let name):
            guard description.utf8.count <= Limits.groupBytes else {
                throw CofferError(.param, "the name of a unit is longer than \(Limits.groupBytes) bytes")
            }
            _ = try Entitlement.unit(name)
        case .executable:
            throw CofferError(
                .param,
                "\(quotedForDisplay(description)) alone says nobody: who starts a program can make it do anything",
                hint: "such as 'unit:backup.service', 'user-unit:mail.service', 'uid:1000' or 'gid:1000'"
            )
        }
    }
}
