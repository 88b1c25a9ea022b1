public import CofferCore
public import CofferWire

extension BlockingClient {
    /// Looks at a few rows of the vault: whether they are what was stored.
    ///
    /// - Parameters:
    ///   - repairs: Whether to repair what is wrong: damaged rows are moved out of the way, and nothing is thrown away.
    ///   - cursor: What the step before ended with.
    /// - Returns: What was found; where it has a cursor, there is more to look at.
    /// - Throws: `decode` where the database itself is damaged; `diskFull`, `io`.
    public func checkVault(repairs: Bool = false, cursor: String? = nil) throws(CofferError) -> CheckPage {
        let params = VaultCheckParameters(repairs: repairs, cursor: cursor)
        return try call(.vaultCheck, params, returning: CheckPage.self).value
    }

    /// Lists the damaged rows that were moved out of the way, and whether they could go back now.
    ///
    /// - Parameter cursor: What the page before ended with.
    public func quarantine(cursor: String? = nil) throws(CofferError) -> QuarantinePage {
        try call(.vaultQuarantine, VaultQuarantineParameters(cursor: cursor), returning: QuarantinePage.self).value
    }

    /// Puts rows back that are authentic now, and whose place is free.
    ///
    /// - Parameter cursor: What the page before ended with.
    /// - Returns: The rows that were looked at: those with an obstacle stay where they are.
    public func restoreQuarantined(cursor: String? = nil) throws(CofferError) -> QuarantinePage {
        let params = VaultQuarantineParameters(.restore, cursor: cursor)
        return try call(.vaultQuarantine, params, returning: QuarantinePage.self).value
    }

    /// Destroys a row that was moved out of the way.
    ///
    /// - Parameter entry: The row.
    /// - Throws: `itemNotFound` where it is there no more.
    public func discardQuarantined(_ entry: QuarantineEntry) throws(CofferError) {
        let params = VaultQuarantineParameters(.discard, store: entry.store, number: entry.number)
        _ = try call(.vaultQuarantine, params, returning: QuarantinePage.self)
    }

    /// Ends the faults of the whole vault that have passed, such as a damaged log, and removes what is kept of them.
    public func acknowledgeFaults() throws(CofferError) {
        _ = try call(.vaultQuarantine, VaultQuarantineParameters(.acknowledge), returning: QuarantinePage.self)
    }
}
