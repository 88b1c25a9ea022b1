public import CofferCore
public import CofferWire

extension BlockingClient {
    /// Lets somebody read one item, until that ends by itself.
    ///
    /// - Parameters:
    ///   - name: The item's name.
    ///   - client: Who may read it.
    ///   - seconds: For how long, ``Limits/leaseSeconds`` at most; it ends with the boot of the machine in any case.
    ///   - uses: How often, ``Limits/leaseUses`` at most; as often as anybody likes if nothing is said.
    ///   - reason: What it is for, of 1 to ``Limits/leaseReasonBytes`` bytes.
    /// - Returns: The lease's number.
    /// - Throws: `itemNotFound`; `param` for a client that no lease can be for; `notAvailable` where there are too many.
    @discardableResult
    public func grant(
        _ name: ItemName,
        to client: ClientPattern,
        seconds: Int,
        uses: Int? = nil,
        reason: String? = nil
    ) throws(CofferError) -> Int64 {
        let params = LeaseGrantParameters(
            name: name,
            client: client,
            seconds: Int64(seconds),
            uses: uses.map(Int64.init),
            reason: reason
        )
        return try call(.leaseGrant, params, returning: LeaseGrantResult.self).value.number
    }

    /// Lists the leases of items in your access groups, in the order of their granting.
    ///
    /// - Parameter after: Those behind that one only, as a page before says.
    public func leases(after: Int64? = nil) throws(CofferError) -> LeasePage {
        try call(.leaseList, LeaseListParameters(after: after), returning: LeasePage.self).value
    }

    /// Ends a lease.
    ///
    /// - Parameter number: What it is called.
    /// - Throws: `itemNotFound` where there is none, or it has ended.
    public func revokeLease(_ number: Int64) throws(CofferError) {
        _ = try call(.leaseRevoke, LeaseRevokeParameters(number: number), returning: Empty.self)
    }
}
