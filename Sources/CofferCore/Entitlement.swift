/// What somebody has written of some clients: who they are, and what they may do.
public struct Entitlement: Hashable, Sendable {
    /// The file that it stands in.
    public let path: String
    /// Where it begins there, from 1.
    public let line: Int
    /// Who is meant: a client that fits all of them.
    public let clients: [ClientPattern]
    /// The access groups that such a client holds; the first is the default.
    public let groups: [String]
    /// What it may do: nothing, where it is to be refused.
    public let verbs: Set<Verb>
    /// How what it stores is protected where nobody says more.
    public let protection: Protection?
    /// How much of the daemon it may have.
    public let limits: ClientLimits

    /// Describes what is written.
    package init(
        path: String,
        line: Int,
        clients: [ClientPattern],
        groups: [String],
        verbs: Set<Verb>,
        protection: Protection?,
        limits: ClientLimits = ClientLimits()
    ) {
        self.path = path
        self.line = line
        self.clients = clients
        self.groups = groups
        self.verbs = verbs
        self.protection = protection
        self.limits = limits
    }

    /// Whether a client is meant.
    package func fits(_ client: ClientIdentity) -> Bool { clients.allSatisfy { $0.fits(client) } }

    /// Whether it says in which unit its clients are: only then it means to give rights to what is in a container.
    package var namesUnit: Bool { clients.contains(where: \.isUnit) }

    /// Where it stands, in words.
    public var place: String { "\(quotedForDisplay(path)), line \(line)" }

    /// The rights that it gives.
    package var rights: AccessRights {
        AccessRights(
            groups: groups,
            verbs: verbs,
            protection: protection,
            restOnProgram: clients.contains(where: \.isExecutable),
            limits: limits,
            reason: "it is what \(place), says"
        )
    }
}

extension Entitlement {
    /// What can be set in the section of a client: who it is, by the first five at least, and what it may do.
    package static let settings = [
        "Unit", "UserUnit", "User", "UID", "GID", "Executable", "Groups", "Verbs", "DefaultProtection",
        "MaxConnections", "MaxRequestsPerSecond",
    ]

    /// Where they are, in the order in which they are looked at: the machine's word comes before the user's.
    ///
    /// - Parameter home: The directory of the user's configuration, if there is one.
    package static func directories(home: String?) -> [String] {
        ["/etc", home].compactMap { $0.map { $0 + "/coffer/entitlements.d" } }
    }

    /// Reads the entitlements of files, in their order.
    ///
    /// - Parameters:
    ///   - files: The files, and their bytes.
    ///   - userID: Finds a user by name.
    /// - Throws: `param` with the line that is wrong.
    package static func all(
        in files: [(path: String, bytes: [UInt8])],
        userID: (String) throws(CofferError) -> UInt32
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
                for entry in section.entries { try draft.take(entry, in: section, of: file, userID) }
                all.append(try draft.finished(at: section.line, of: file))
            }
        }
        return all
    }
}

/// An entitlement that is being read.
private struct EntitlementDraft {
    private var seen: Set<String> = []
    private var clients: [ClientPattern] = []
    private var groups: [String] = []
    private var verbs: Set<Verb> = []
    private var protection: Protection?
    private var limits = ClientLimits()

    private static let identifying = Entitlement.settings.prefix(5)

    mutating func take(
        _ entry: ConfigurationFile.Entry,
        in section: ConfigurationFile.Section,
        of file: ConfigurationFile,
        _ userID: (String) throws(CofferError) -> UInt32
    ) throws(CofferError) {
        guard seen.insert(entry.key).inserted else { throw file.wrong(entry.line, "\(entry.key) is there twice") }
        guard Entitlement.settings.contains(entry.key) else {
            throw file.unknown(entry, in: section, known: Entitlement.settings)
        }
        do {
            switch entry.key {
            case "Unit": clients.append(.unit(try Entitlement.unit(entry.value)))
            case "UserUnit": clients.append(.userUnit(try Entitlement.unit(entry.value)))
            case "User": clients.append(.user(try userID(entry.value)))
            case "UID": clients.append(.user(try Self.number(entry.value)))
            case "GID": clients.append(.group(try Self.number(entry.value)))
            case "Executable": clients.append(.executable(try Self.path(entry.value)))
            case "Groups": groups = try Self.groups(entry.value)
            case "Verbs": verbs = try Self.verbs(entry.value)
            case "DefaultProtection": protection = try Self.protection(entry.value)
            case "MaxConnections": limits.connections = try Self.limit(entry.value, upTo: Limits.connections)
            default: limits.requestsPerSecond = try Self.limit(entry.value, upTo: Limits.requestsPerSecond)
            }
        } catch {
            throw file.wrong(entry.line, "\(entry.key): \(error.message)", hint: error.hint)
        }
    }

    func finished(at line: Int, of file: ConfigurationFile) throws(CofferError) -> Entitlement {
        guard !seen.isDisjoint(with: Self.identifying) else {
            throw file.wrong(
                line,
                "a [Client] says who it is",
                hint: "by \(Self.identifying.joined(separator: ", ")); a program alone can be made to do anybody's will"
            )
        }
        guard !seen.isSuperset(of: ["User", "UID"]) else {
            throw file.wrong(line, "User and UID are two ways to say one thing: give one of them")
        }
        guard seen.contains("Verbs") else {
            throw file.wrong(line, "a [Client] says what it may do: Verbs", hint: "'Verbs=' alone refuses it")
        }
        guard !groups.isEmpty || verbs.isDisjoint(with: [.read, .write, .delete]) else {
            throw file.wrong(line, "who may read, write or delete holds an access group: Groups")
        }
        return Entitlement(
            path: file.path,
            line: line,
            clients: clients,
            groups: groups,
            verbs: verbs,
            protection: protection,
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

    private static func number(_ text: String) throws(CofferError) -> UInt32 {
        // The last one stands for nobody.
        guard text.isMadeOfDigits, let number = UInt32(text), number < .max else {
            throw CofferError(.param, "\(quotedForDisplay(text)) is no number of a user or a group")
        }
        return number
    }

    private static func limit(_ text: String, upTo greatest: Int) throws(CofferError) -> Int {
        guard text.isMadeOfDigits, let number = Int(text), (1...greatest).contains(number) else {
            throw CofferError(.param, "\(quotedForDisplay(text)) is no number from 1 to \(greatest)")
        }
        return number
    }

    private static func path(_ text: String) throws(CofferError) -> String {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard text.hasPrefix("/"), !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(text)) is no path of a program",
                hint: "from the root and without detours: where symbolic links lead, and not the links"
            )
        }
        return text
    }

    private static func groups(_ text: String) throws(CofferError) -> [String] {
        let groups = try words(text)
        guard groups.count <= Limits.groups else {
            throw CofferError(.param, "\(groups.count) groups are too many", hint: "at most \(Limits.groups)")
        }
        for group in groups where !group.isMadeOfUnitCharacters || group.utf8.count > Limits.groupBytes {
            throw CofferError(
                .param,
                "\(quotedForDisplay(group)) is no access group",
                hint: "up to \(Limits.groupBytes) of the letters, digits and marks that names of units have"
            )
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
    /// Reads the full name of a unit.
    ///
    /// - Parameter text: The name.
    /// - Throws: `param` for what is none, or no service and no scope.
    static func unit(_ text: String) throws(CofferError) -> String {
        guard text.isMadeOfUnitCharacters, text.hasSuffix(".service") || text.hasSuffix(".scope") else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(text)) is no unit",
                hint: "named in full, such as 'backup.service'; there are no patterns"
            )
        }
        return text
    }
}

extension ClientPattern {
    /// Whether it says in which unit clients are: only then it can mean what is in a container.
    package var isUnit: Bool {
        switch self {
        case .unit, .userUnit: true
        case .user, .group, .executable: false
        }
    }

    fileprivate var isExecutable: Bool {
        if case .executable = self { true } else { false }
    }
}

extension String {
    fileprivate var isMadeOfDigits: Bool { utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }

    /// Whether it has only what systemd allows in the name of a unit: so the name of each unit's own group can be written.
    fileprivate var isMadeOfUnitCharacters: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: #":-_.\@"#.utf8.contains(byte)
                }
            }
    }
}
