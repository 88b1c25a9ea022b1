/// The file of a program.
public struct ExecutableFile: Hashable, Sendable {
    /// The device number.
    public let device: UInt64
    /// The inode number.
    public let inode: UInt64

    /// Creates an identifier of a file.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The identity of a client, as the kernel and the service manager report it.
public struct ClientIdentity: Hashable, Sendable {
    /// The process that connected.
    ///
    /// It is for people: the number may be reused, so no right depends on it.
    ///
    /// `nil` if the number is not visible to the daemon.
    public var processID: Int32?
    /// The effective user.
    public var userID: UInt32
    /// The effective group.
    public var groupID: UInt32
    /// The supplementary groups.
    public var supplementaryGroupIDs: Set<UInt32>
    /// The unit of the system's service manager that its process belongs to.
    public var unit: String?
    /// The unit of the user's service manager that its process belongs to.
    public var userUnit: String?
    /// The path of its program.
    public var executablePath: String?
    /// The file at that path.
    public var executableFile: ExecutableFile?
    /// Whether its process is in another pid namespace than the daemon, as processes of containers and sandboxes are.
    public var isContained: Bool
    /// The container of the process, by the name that the service manager has for it.
    public var machine: String?
    /// The user of the login, or of the service manager, that its process belongs to: not reported to clients.
    package var loginUserID: UInt32?

    /// Creates an identity.
    public init(
        processID: Int32? = nil,
        userID: UInt32,
        groupID: UInt32,
        supplementaryGroupIDs: Set<UInt32> = [],
        unit: String? = nil,
        userUnit: String? = nil,
        executablePath: String? = nil,
        executableFile: ExecutableFile? = nil,
        isContained: Bool = false,
        machine: String? = nil
    ) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
        self.supplementaryGroupIDs = supplementaryGroupIDs
        self.unit = unit
        self.userUnit = userUnit
        self.executablePath = executablePath
        self.executableFile = executableFile
        self.isContained = isContained
        self.machine = machine
    }

    /// The container or namespace, as part of a sentence; `nil` if the process is not contained.
    package var containment: String? {
        guard isContained else { return nil }
        return machine.map { "the container \(quotedForDisplay($0))" } ?? "a container or another pid namespace"
    }
}

/// A pattern of clients: `uid:1000`, `gid:1000`, `unit:backup.service`, `user-unit:mail.service` or
/// `exe:/usr/bin/mail`.
public enum ClientPattern: Hashable, Sendable, CustomStringConvertible {
    /// Clients of a user.
    case user(UInt32)
    /// Clients with a group.
    case group(UInt32)
    /// Clients in a unit of the system's service manager.
    case unit(String)
    /// Clients in a unit of the user's service manager.
    case userUnit(String)
    /// Clients that run a program.
    case executable(String)
    /// Clients outside of services and containers: logins, and what people started there.
    case outsideServices

    /// Parses a pattern.
    ///
    /// - Throws: `param` if it is not a pattern.
    public init(_ text: String) throws(CofferError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let value = parts.count == 2 ? parts[1] : ""
        switch (parts[0], UInt32(value)) {
        case ("uid", let number?): self = .user(number)
        case ("gid", let number?): self = .group(number)
        case ("unit", _) where !value.isEmpty: self = .unit(value)
        case ("user-unit", _) where !value.isEmpty: self = .userUnit(value)
        case ("exe", _) where value.hasPrefix("/"): self = .executable(value)
        case ("service", _) where value == "no": self = .outsideServices
        default:
            throw CofferError(
                .param,
                "unknown client \(quotedForDisplay(text))",
                hint:
                    "such as 'uid:1000', 'gid:1000', 'unit:backup.service', 'user-unit:mail.service', 'exe:/usr/bin/mail'"
            )
        }
    }

    /// The text that ``init(_:)`` parses.
    public var description: String {
        switch self {
        case .user(let number): "uid:\(number)"
        case .group(let number): "gid:\(number)"
        case .unit(let name): "unit:\(name)"
        case .userUnit(let name): "user-unit:\(name)"
        case .executable(let path): "exe:\(path)"
        case .outsideServices: "service:no"
        }
    }

    /// Whether a client matches.
    public func fits(_ client: ClientIdentity) -> Bool {
        switch self {
        case .user(let number): client.userID == number
        case .group(let number): client.groupID == number || client.supplementaryGroupIDs.contains(number)
        case .unit(let name): Self.unit(client.unit, fits: name)
        case .userUnit(let name): Self.unit(client.userUnit, fits: name)
        case .executable(let path): client.executablePath?.utf8.elementsEqual(path.utf8) ?? false
        case .outsideServices: client.service == nil && !client.isContained
        }
    }
}

extension ClientIdentity {
    /// The identity without what differs between processes of the same client, as the audit stores it.
    package var recorded: ClientIdentity {
        var recorded = self
        (recorded.processID, recorded.supplementaryGroupIDs) = (nil, [])
        (recorded.executableFile, recorded.loginUserID) = (nil, nil)
        return recorded
    }

    /// A short name of the client: its service, or else its user.
    public var summary: String { principal.description + (containment.map { " in \($0)" } ?? "") }
}
