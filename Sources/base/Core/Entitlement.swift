extension Entitlement {
    /// Whether the section matches a client.
    package func fits(_ client: ClientIdentity) -> Bool { clients.allSatisfy { $0.fits(client) } }

    /// Whether the section names a unit: only then does it apply to processes in a container.
    package var namesUnit: Bool { clients.contains(where: \.isUnit) }

    /// The file and the line, in words.
    public var place: String { "\(quotedForDisplay(path)), line \(line)" }

    /// The rights that it gives a client.
    package func rights(of client: ClientIdentity) -> AccessRights {
        let namesOwnProgram = groups.contains(AccessGroup.ownProgram)
        let programGroup = namesOwnProgram ? AccessGroup.program(at: client.executablePath) : nil
        let held: [String] = groups.compactMap {
            switch $0 {
            case AccessGroup.every: nil
            case AccessGroup.ownProgram: programGroup
            case AccessGroup.ownUser: AccessGroup.user(client.userID)
            default: $0
            }
        }
        return AccessRights(
            groups: held,
            reach: groups.contains(AccessGroup.every) ? .all : .only(held),
            programGroup: programGroup,
            verbs: verbs,
            itemClass: itemClass,
            protection: protection,
            actsOnBehalf: actsOnBehalf,
            restOnProgram: namesOwnProgram || clients.contains(where: \.isExecutable),
            limits: limits,
            reason: "\(place), says so"
        )
    }
}

extension Entitlement {
    /// The settings of a section: the first six, of which at least one is required, identify the client; the others
    /// say what it may do.
    package static let settings = [
        "Unit", "UserUnit", "User", "UID", "Group", "GID", "Executable", "Service", "VaultOwner", "Groups", "Verbs",
        "Class", "DefaultProtection", "OnBehalfOf", "MaxConnections", "MaxRequestsPerSecond",
    ]

    /// The directories of entitlements, in the order in which they are checked: the machine's take precedence over the
    /// user's.
    ///
    /// - Parameter home: The directory of the user's configuration, if there is one.
    package static func directories(home: String?) -> [String] {
        ["/etc", home].compactMap { $0.map { $0 + "/coffer/entitlements.d" } }
    }

    /// Parses entitlement files, in their order.
    ///
    /// - Parameters:
    ///   - files: The files, and their bytes.
    ///   - owner: The user whose vault they are for; a section that names another one is left out. `nil` for all.
    ///   - userID: Looks up a user by name; `nil` if there is none.
    ///   - groupID: Looks up a group by name; `nil` if there is none.
    ///   - warn: Takes a sentence about each section that is left out because no client can match it.
    /// - Throws: `param` with the line of the error, and what the look-ups throw.
    package static func all(
        in files: [(path: String, bytes: [UInt8])],
        ofVaultOf owner: UInt32? = nil,
        userID: (String) throws(CofferError) -> UInt32?,
        groupID: (String) throws(CofferError) -> UInt32?,
        warn: (String) -> Void = { _ in }
    ) throws(CofferError) -> [Entitlement] {
        var all: [Entitlement] = []
        for (path, bytes) in files {
            let file = try ConfigurationFile(bytes, path: path)
            for section in file.sections {
                guard section.name == "Client" else {
                    throw file.wrong(
                        section.line,
                        "there is no section [\(section.name)]",
                        hint: "each client has a section [Client]"
                    )
                }
                var draft = EntitlementDraft()
                for entry in section.entries { try draft.take(entry, in: section, of: file, userID, groupID) }
                let entitlement = try draft.finished(at: section.line, of: file)
                guard draft.isForVault(of: owner) else { continue }
                if let missing = draft.missing {
                    warn("\(entitlement.place): there is no \(missing), so this [Client] matches no client")
                } else {
                    all.append(entitlement)
                }
            }
        }
        return all
    }
}

/// An entitlement while it is being parsed.
private struct EntitlementDraft {
    private var seen: Set<String> = []
    private var clients: [ClientPattern] = []
    private var vaultOwner: VaultOwner = .any
    private var groups: [String] = []
    private var verbs: Set<Verb> = []
    private var itemClass: ItemClass?
    private var protection: Protection?
    private var actsOnBehalf = false
    private var limits = ClientLimits()
    /// The user or group that a client would need to match, and that does not exist.
    private(set) var missing: String?

    private enum VaultOwner {
        case any
        case user(UInt32)
        case missing
    }

    private static let identifying = Entitlement.settings.prefix(6)

    mutating func take(
        _ entry: ConfigurationFile.Entry,
        in section: ConfigurationFile.Section,
        of file: ConfigurationFile,
        _ userID: (String) throws(CofferError) -> UInt32?,
        _ groupID: (String) throws(CofferError) -> UInt32?
    ) throws(CofferError) {
        guard seen.insert(entry.key).inserted else { throw file.wrong(entry.line, "\(entry.key) is there twice") }
        guard Entitlement.settings.contains(entry.key) else {
            throw file.unknown(entry, in: section, known: Entitlement.settings)
        }
        try file.value(of: entry) { (text) throws(CofferError) in
            switch entry.key {
            case "Unit": clients.append(.unit(try Entitlement.unitOrPattern(text)))
            case "UserUnit": clients.append(.userUnit(try Entitlement.unitOrPattern(text)))
            case "User": clients.append(.user(try Self.user(try userID(text), text)))
            case "UID": clients.append(.user(try Self.number(text)))
            case "Group":
                if let number = try groupID(text) { clients.append(.group(number)) } else { miss("group", text) }
            case "GID": clients.append(.group(try Self.number(text)))
            case "Executable": clients.append(.executable(try Self.path(text)))
            case "Service": clients.append(try Self.outsideServices(text))
            case "VaultOwner":
                vaultOwner = try userID(text).map(VaultOwner.user) ?? .missing
                if case .missing = vaultOwner { miss("user", text) }
            case "Groups": groups = try Self.groups(text)
            case "Verbs": verbs = try Self.verbs(text)
            case "Class": itemClass = try Self.itemClass(text)
            case "DefaultProtection": protection = try Self.protection(text)
            case "OnBehalfOf": actsOnBehalf = try Self.behalf(text)
            case "MaxConnections": limits.connections = try Self.limit(text, upTo: Limits.connections)
            default: limits.requestsPerSecond = try Self.limit(text, upTo: Limits.requestsPerSecond)
            }
        }
    }

    private mutating func miss(_ kind: String, _ name: String) {
        if missing == nil { missing = "\(kind) \(quotedForDisplay(name))" }
    }

    func isForVault(of owner: UInt32?) -> Bool {
        switch vaultOwner {
        case .any: true
        case .user(let number): owner == nil || owner == number
        case .missing: owner == nil
        }
    }

    func finished(at line: Int, of file: ConfigurationFile) throws(CofferError) -> Entitlement {
        guard !seen.isDisjoint(with: Self.identifying) else {
            throw file.wrong(
                line,
                "a [Client] needs a setting that identifies it",
                hint: "one of \(Self.identifying.joined(separator: ", ")); a program alone can be made to do anything"
            )
        }
        for (name, number) in [("User", "UID"), ("Group", "GID")] where seen.isSuperset(of: [name, number]) {
            throw file.wrong(line, "\(name) and \(number) exclude each other: give one of them")
        }
        guard seen.contains("Verbs") else {
            throw file.wrong(line, "a [Client] needs Verbs: what it may do", hint: "'Verbs=' alone refuses it")
        }
        guard !groups.isEmpty || verbs.isDisjoint(with: [.read, .write, .delete]) else {
            throw file.wrong(line, "a [Client] that may read, write or delete needs Groups: its access groups")
        }
        return Entitlement(
            path: file.path,
            line: line,
            clients: clients,
            groups: groups,
            verbs: verbs,
            itemClass: itemClass,
            protection: protection,
            actsOnBehalf: actsOnBehalf,
            limits: limits
        )
    }

    // MARK: Values

    private static func words(_ text: String) throws(CofferError) -> [String] {
        let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        for (index, word) in words.enumerated() where words[..<index].contains(word) {
            throw CofferError(.param, "\(quotedForDisplay(word)) is there twice")
        }
        return words
    }

    private static func user(_ number: UInt32?, _ name: String) throws(CofferError) -> UInt32 {
        if let number { return number }
        throw CofferError(.param, "there is no user \(quotedForDisplay(name))", hint: "'UID=' takes a number")
    }

    private static func number(_ text: String) throws(CofferError) -> UInt32 {
        // The highest number is reserved: it means "no user".
        guard text.isMadeOfDigits, let number = UInt32(text), number < .max else {
            throw CofferError(.param, "\(quotedForDisplay(text)) is not the number of a user or a group")
        }
        return number
    }

    private static func outsideServices(_ text: String) throws(CofferError) -> ClientPattern {
        if text == "no" { return .outsideServices }
        throw CofferError(
            .param,
            "expected 'no', for clients outside of services, and not \(quotedForDisplay(text))",
            hint: "a service is named by Unit or UserUnit"
        )
    }

    private static func behalf(_ text: String) throws(CofferError) -> Bool {
        if text == "yes" { return true }
        throw CofferError(
            .param,
            "expected 'yes', for a client that acts on behalf of others, and not \(quotedForDisplay(text))",
            hint: "without the setting, a client acts for itself alone"
        )
    }

    private static func limit(_ text: String, upTo greatest: Int) throws(CofferError) -> Int {
        guard text.isMadeOfDigits, let number = Int(text), (1...greatest).contains(number) else {
            throw CofferError(.param, "\(quotedForDisplay(text)) is not a number from 1 to \(greatest)")
        }
        return number
    }

    fileprivate static func path(_ text: String) throws(CofferError) -> String {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard text.hasPrefix("/"), !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(text)) is not the path of a program",
                hint: "give an absolute path without '.' and '..', with symbolic links resolved"
            )
        }
        return text
    }

    /// Reads groups; a program's own is named by ``AccessGroup/ownProgram``.
    private static func groups(_ text: String) throws(CofferError) -> [String] {
        let groups = try words(text)
        guard groups.count <= Limits.groups else {
            throw CofferError(.param, "\(groups.count) groups are too many", hint: "at most \(Limits.groups)")
        }
        for group in groups where group != AccessGroup.every {
            try AccessGroup.check(group)
            for (own, holder) in [(AccessGroup.ownProgram, "program"), (AccessGroup.ownUser, "user")]
            where group.hasPrefix(own) && group != own {
                throw CofferError(
                    .param,
                    "\(quotedForDisplay(group)) is the group of a \(holder), which only that \(holder) holds",
                    hint: "'\(own)' alone gives each client the group of its own \(holder)"
                )
            }
        }
        return groups
    }

    private static func verbs(_ text: String) throws(CofferError) -> Set<Verb> {
        var verbs: Set<Verb> = []
        for word in try words(text) {
            guard let verb = Verb(rawValue: word) else {
                throw CofferError(
                    .param,
                    "there is no verb \(quotedForDisplay(word))",
                    hint: "there are " + Verb.allCases.map(\.rawValue).joined(separator: ", ")
                )
            }
            verbs.insert(verb)
        }
        return verbs
    }

    private static func itemClass(_ text: String) throws(CofferError) -> ItemClass {
        let classes = ItemClass.allCases.filter { $0 != .identity }
        if let itemClass = classes.first(where: { $0.rawValue == text }) { return itemClass }
        throw CofferError(
            .param,
            "there is no class \(quotedForDisplay(text)) of items",
            hint: "there are \(classes.map(\.rawValue).joined(separator: ", "))"
        )
    }

    private static func protection(_ text: String) throws(CofferError) -> Protection {
        if let protection = Protection(name: text) { return protection }
        throw CofferError(
            .param,
            "there is no \(quotedForDisplay(text))",
            hint: "there are "
                + (Accessibility.allCases.map(\.rawValue) + ProtectionClass.allCases.map(\.rawValue))
                .joined(separator: ", ")
        )
    }
}

extension Entitlement {
    /// Checks the full name of a unit.
    ///
    /// - Throws: `param` if it is not the name of a service or scope.
    static func unit(_ text: String) throws(CofferError) -> String {
        guard text.isMadeOfUnitCharacters, text.hasSuffix(".service") || text.hasSuffix(".scope") else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(text)) is no unit",
                hint: "named in full, such as 'backup.service'"
            )
        }
        return text
    }
}

extension Entitlement {
    /// Checks the full name of a unit, or a pattern of such names.
    ///
    /// - Throws: `param` if no service or scope can have such a name.
    static func unitOrPattern(_ text: String) throws(CofferError) -> String {
        guard UnitPattern.isPattern(text) else { return try unit(text) }
        let isWellFormed = UnitPattern(text) != nil && (text.hasSuffix(".service") || text.hasSuffix(".scope"))
        guard isWellFormed, text.utf8.count <= Limits.groupBytes else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(text)) is no pattern of units",
                hint: "such as 'backup@*.service': '*', '?' and '[a-z]' before the full ending '.service' or '.scope'"
            )
        }
        return text
    }
}

extension Entitlement {
    /// Checks the path of a program.
    ///
    /// - Throws: `param` if the kernel reports no program by such a path.
    static func program(_ text: String) throws(CofferError) -> String { try EntitlementDraft.path(text) }
}

extension ClientPattern {
    /// Whether the pattern names a unit: only such a pattern can match a process in a container.
    package var isUnit: Bool {
        switch self {
        case .unit, .userUnit: true
        case .user, .group, .executable, .outsideServices: false
        }
    }

    fileprivate var isExecutable: Bool {
        if case .executable = self { true } else { false }
    }
}

extension String {
    fileprivate var isMadeOfDigits: Bool { utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }

    /// Whether it has only characters that systemd allows in unit names.
    fileprivate var isMadeOfUnitCharacters: Bool { !isEmpty && utf8.allSatisfy(\.isUnitCharacter) }
}
