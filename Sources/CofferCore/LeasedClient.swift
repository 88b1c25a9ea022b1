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
