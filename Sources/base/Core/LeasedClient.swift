extension ClientPattern {
    /// Refuses patterns for which no lease can be granted.
    ///
    /// - Throws: `param` for a program, because the process that starts it can make it do anything, and for an invalid
    ///   unit name.
    package func checkLeasable() throws(CofferError) {
        switch self {
        case .user, .group: return
        case .unit(let name), .userUnit(let name):
            guard description.utf8.count <= Limits.groupBytes else {
                throw CofferError(.param, "the name of a unit is longer than \(Limits.groupBytes) bytes")
            }
            _ = try Entitlement.unit(name)
        case .executable, .outsideServices:
            throw CofferError(
                .param,
                "\(quotedForDisplay(description)) does not identify a client: the process that starts a program can make it do anything",
                hint: "such as 'unit:backup.service', 'user-unit:mail.service', 'uid:1000' or 'gid:1000'"
            )
        }
    }
}
