package import CofferCore
package import CofferSystem
internal import Glibc
internal import Synchronization

// Clients as people name them: the protocol has the numbers of users and groups, and a person knows their names.

/// The first word of a client, as a person names it.
package enum ClientKind: String, CaseIterable {
    case user
    case group
    case unit
    case userUnit = "user-unit"
    case program

    /// The options that take a client, by the verb.
    private static let options = ["grant": "--to", "explain": "--as", "simulate": "--as"]

    /// The words of a command line with the two of a client behind an option, such as `--to unit ci`, in one.
    static func joined(_ words: ArraySlice<String>) -> ArraySlice<String> {
        guard let option = words.first.flatMap({ options[$0] }), let place = words.firstIndex(of: option),
            words.distance(from: place, to: words.endIndex) > 2, let kind = Self(rawValue: words[place + 1])
        else { return words }
        return words[...place] + ["\(kind.rawValue):\(words[place + 2])"] + words[(place + 3)...]
    }
}

extension ClientPattern {
    /// The client of a kind and a name.
    ///
    /// - Parameter name: A name or a number; of a unit also a pattern, which is about services unless it says otherwise.
    /// - Throws: `param` if there is no such user or group, or it is no path of a program.
    package init(_ kind: ClientKind, named name: String) throws(CofferError) {
        self =
            switch kind {
            case .user: .user(try UserDatabase.number(ofUser: name))
            case .group: .group(try UserDatabase.number(ofGroup: name))
            case .unit: .unit(name.asUnitName)
            case .userUnit: .userUnit(name.asUnitName)
            case .program: .executable(try Self.program(name))
            }
    }

    /// Parses a client in one word, such as `unit:ci`, or a pattern of the protocol.
    ///
    /// - Throws: `param` if it is neither, or there is no such client.
    package init(argument text: String) throws(CofferError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let kind = ClientKind(rawValue: parts[0]) else {
            try self.init(text)
            return
        }
        try self.init(kind, named: parts[1])
    }

    /// The path of a program, with symbolic links resolved, as the kernel reports it.
    private static func program(_ path: String) throws(CofferError) -> String {
        guard path.hasPrefix("/") else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(path)) is not the path of a program",
                hint: "give an absolute path, such as /usr/bin/mail"
            )
        }
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// The client in two words, as people name it to each verb.
    package var ruleWords: String {
        switch self {
        case .user(let number): "user \(UserDatabase.userName(of: number) ?? "\(number)")"
        case .group(let number): "group \(UserDatabase.groupName(of: number) ?? "\(number)")"
        case .unit(let name): "unit \(name)"
        case .userUnit(let name): "user-unit \(name)"
        case .executable(let path): "program \(path)"
        case .outsideServices: description
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

extension String {
    /// The name as that of a unit: of a service, unless it has another ending.
    var asUnitName: String { contains(".") ? self : self + ".service" }
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

    /// The number of a group whose name or number a person typed.
    ///
    /// - Throws: `param` if there is no such group.
    fileprivate static func number(ofGroup text: String) throws(CofferError) -> UInt32 {
        if let number = UInt32(text), number < .max { return number }
        if let number = try? groupID(named: text) { return number }
        throw CofferError(
            .param,
            "there is no group \(quotedForDisplay(text))",
            hint: "give the name of a group of this machine, or a number"
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
