package import CofferCore
package import CofferSystem
internal import Synchronization

// Clients as people name them: the protocol has the numbers of users and groups, and a person knows their names.

extension ClientPattern {
    /// Parses a pattern of the protocol, or `user:NAME` and `group:NAME`.
    ///
    /// - Throws: `param` if it is not a pattern, or there is no such user or group.
    package init(argument text: String) throws(CofferError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count) {
        case ("user", 2):
            do { self = .user(try UserDatabase.userID(named: parts[1])) } catch {
                throw CofferError(.param, error.message, hint: "'uid:NUMBER' names a user without a name")
            }
        case ("group", 2):
            do { self = .group(try UserDatabase.groupID(named: parts[1])) } catch {
                throw CofferError(.param, error.message, hint: "'gid:NUMBER' names a group without a name")
            }
        default: try self.init(text)
        }
    }

    /// A listing of the audit names the same few clients thousands of times.
    private static let names = Mutex<[ClientPattern: String]>([:])

    private var name: String? {
        switch self {
        case .user(let number): UserDatabase.userName(of: number).map { "user:\($0)" }
        case .group(let number): UserDatabase.groupName(of: number).map { "group:\($0)" }
        case .unit, .userUnit, .executable, .outsideServices: nil
        }
    }

    /// The pattern with the names of users and groups, as ``init(argument:)`` reads it.
    package var words: String {
        switch self {
        case .user, .group:
            Self.names.withLock { names in
                if let known = names[self] { return known }
                let words = name ?? description
                names[self] = words
                return words
            }
        case .unit, .userUnit, .executable, .outsideServices: description
        }
    }
}

extension UserDatabase {
    /// The number of a user whose name or number a person typed.
    ///
    /// - Throws: `param` if there is no such user.
    package static func number(ofUser text: String) throws(CofferError) -> UInt32 {
        if let number = UInt32(text), number < .max { return number }
        // A user that is missing is an error of its own, which speaks of a configuration file.
        if let number = try? userID(named: text) { return number }
        throw CofferError(
            .param,
            "there is no user \(quotedForDisplay(text))",
            hint: "give the name of a user of this machine, or a number"
        )
    }
}

extension ClientIdentity {
    /// A short name of the client: its service, or else its user by name.
    package var shortWords: String { principal.words + (containment.map { " in \($0)" } ?? "") }

    /// The whole identity.
    package var words: String {
        let others = supplementaryGroupIDs.subtracting([groupID]).sorted()
        let groups = ([groupID] + others).map { UserDatabase.groupName(of: $0) ?? "\($0)" }.joined(separator: ", ")
        let user = UserDatabase.userName(of: userID).map { "\($0) (\(userID))" } ?? "\(userID)"
        var parts = ["user \(user)", (others.isEmpty ? "group " : "groups ") + groups]
        if let processID { parts.insert("process \(processID)", at: 0) }
        if let unit { parts.append("in \(ClientPattern.unit(unit))") }
        if let userUnit { parts.append("in \(ClientPattern.userUnit(userUnit))") }
        if let containment { parts.append("in \(containment)") }
        if let executablePath { parts.append("running \(quotedForDisplay(executablePath))") }
        return parts.joined(separator: "; ")
    }
}
