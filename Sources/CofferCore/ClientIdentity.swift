/// Who a client is, as the kernel and the service manager tell.
public struct ClientIdentity: Hashable, Sendable {
    /// The effective user.
    public let userID: UInt32
    /// The effective group.
    public let groupID: UInt32
    /// The unit of the system's service manager that its process belongs to.
    public let unit: String?
    /// The unit of the user's service manager that its process belongs to.
    public let userUnit: String?
    /// The path of its program.
    public let executablePath: String?

    /// Describes a client.
    public init(
        userID: UInt32,
        groupID: UInt32,
        unit: String? = nil,
        userUnit: String? = nil,
        executablePath: String? = nil
    ) {
        self.userID = userID
        self.groupID = groupID
        self.unit = unit
        self.userUnit = userUnit
        self.executablePath = executablePath
    }
}

/// Which clients are meant: `uid:1000`, `gid:1000`, `unit:backup.service`, `user-unit:mail.service` or `exe:/usr/bin/mail`.
public enum ClientPattern: Hashable, Sendable, CustomStringConvertible {
    /// Those of a user.
    case user(UInt32)
    /// Those of a group.
    case group(UInt32)
    /// Those in a unit of the system's service manager.
    case unit(String)
    /// Those in a unit of the user's service manager.
    case userUnit(String)
    /// Those that run a program.
    case executable(String)

    /// Reads a pattern.
    ///
    /// - Parameter text: The pattern.
    /// - Throws: `param` where it is none.
    public init(_ text: String) throws(CofferError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let value = parts.count == 2 ? parts[1] : ""
        switch (parts[0], UInt32(value)) {
        case ("uid", let number?): self = .user(number)
        case ("gid", let number?): self = .group(number)
        case ("unit", _) where !value.isEmpty: self = .unit(value)
        case ("user-unit", _) where !value.isEmpty: self = .userUnit(value)
        case ("exe", _) where value.hasPrefix("/"): self = .executable(value)
        default:
            throw CofferError(
                .param,
                "\(quotedForDisplay(text)) is no client",
                hint:
                    "such as 'uid:1000', 'gid:1000', 'unit:backup.service', 'user-unit:mail.service', 'exe:/usr/bin/mail'"
            )
        }
    }

    /// As it is read.
    public var description: String {
        switch self {
        case .user(let number): "uid:\(number)"
        case .group(let number): "gid:\(number)"
        case .unit(let name): "unit:\(name)"
        case .userUnit(let name): "user-unit:\(name)"
        case .executable(let path): "exe:\(path)"
        }
    }

    /// Whether a client is one of them.
    ///
    /// - Parameter client: The client.
    public func fits(_ client: ClientIdentity) -> Bool {
        switch self {
        case .user(let number): client.userID == number
        case .group(let number): client.groupID == number
        case .unit(let name): client.unit?.utf8.elementsEqual(name.utf8) ?? false
        case .userUnit(let name): client.userUnit?.utf8.elementsEqual(name.utf8) ?? false
        case .executable(let path): client.executablePath?.utf8.elementsEqual(path.utf8) ?? false
        }
    }
}

extension ClientIdentity {
    /// The client in a word: its service, or else its user.
    public var summary: String { service?.description ?? ClientPattern.user(userID).description }
}
