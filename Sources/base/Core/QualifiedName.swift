/// The name of a keychain item that has no place among the paths: its class, and what a person knows it by.
///
/// | name | item |
/// |---|---|
/// | `login:ACCOUNT@SERVER`, `login:SERVER` | the internet password of an account |
/// | `key:LABEL`, `certificate:LABEL` | the key, or the certificate, with this label |
/// | `password:LABEL` | the generic password with this label whose service and account form no path |
/// | `reference:DIGITS` | the keychain item with this persistent reference, of any class |
///
/// A path that is stored takes precedence: `login:me@example.com` may be that of a file.
public enum QualifiedName: Hashable, Sendable {
    case login(account: String, server: String)
    case labelled(ItemClass, String)
    case reference(ItemID)

    /// Reads a name.
    ///
    /// - Returns: `nil` if it is a path only.
    public init?(_ name: ItemName) {
        let path = name.path.utf8
        guard let colon = path.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = String(name.path[path.index(after: colon)...])
        if rest.isEmpty { return nil }
        switch name.path[..<colon] {
        case "login": self.init(login: rest)
        case "reference":
            guard let reference = ItemID(hexadecimal: rest) else { return nil }
            self = .reference(reference)
        case let word:
            guard let (itemClass, _) = Self.labelWords.first(where: { $0.word == word }) else { return nil }
            self = .labelled(itemClass, rest)
        }
    }

    private init(login: String) {
        // A server has no '@', an account may.
        guard let place = login.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            self = .login(account: "", server: login)
            return
        }
        self = .login(account: String(login[..<place]), server: String(login[login.utf8.index(after: place)...]))
    }

    private static let labelWords: [(itemClass: ItemClass, word: String)] = [
        (.genericPassword, "password"), (.key, "key"), (.certificate, "certificate"),
    ]

    /// The name for the item with these attributes.
    ///
    /// - Parameters:
    ///   - itemClass: The class of the item.
    ///   - text: Returns the text of an attribute; "" if it is missing.
    /// - Returns: `nil` if it has none: only its reference names it.
    public init?(_ itemClass: ItemClass, _ text: (KeychainAttribute) -> String) {
        let name: QualifiedName
        if itemClass == .internetPassword {
            name = .login(account: text(.account), server: text(.server))
        } else {
            name = .labelled(itemClass, text(.label))
        }
        // What is typed must mean this item: a server with an '@' would not.
        guard let path = name.itemName, QualifiedName(path) == name else { return nil }
        self = name
    }

    /// The name as it is listed and typed; `nil` if an item can't be named so.
    public var itemName: ItemName? { try? ItemName(path) }

    private var path: String {
        switch self {
        case .login("", let server): "login:\(server)"
        case .login(let account, let server): "login:\(account)@\(server)"
        case .reference(let reference): "reference:\(reference.hexadecimal)"
        case .labelled(let itemClass, let label):
            "\(Self.labelWords.first { $0.itemClass == itemClass }?.word ?? itemClass.rawValue):\(label)"
        }
    }

    /// The class of the items that it can name; `nil` for any.
    public var itemClass: ItemClass? {
        switch self {
        case .login: .internetPassword
        case .labelled(let itemClass, _): itemClass
        case .reference: nil
        }
    }

    /// The attributes that an item of this name has.
    public var attributes: [KeychainAttribute: AttributeValue] {
        switch self {
        case .login(let account, let server): [.account: .text(account), .server: .text(server)]
        case .labelled(_, let label): [.label: .text(label)]
        case .reference: [:]
        }
    }

    /// The query that finds the item.
    public var query: KeychainQuery {
        switch self {
        case .reference(let reference): KeychainQuery(reference: reference)
        case .login: KeychainQuery(.internetPassword, attributes)
        case .labelled(let itemClass, _): KeychainQuery(itemClass, attributes)
        }
    }

    /// Compares the bytes: the stores do, too.
    public static func == (one: QualifiedName, other: QualifiedName) -> Bool {
        switch (one, other) {
        case (.login(let account, let server), .login(let otherAccount, let otherServer)):
            account.hasSameBytes(as: otherAccount) && server.hasSameBytes(as: otherServer)
        case (.labelled(let itemClass, let label), .labelled(let otherClass, let otherLabel)):
            itemClass == otherClass && label.hasSameBytes(as: otherLabel)
        case (.reference(let reference), .reference(let other)): reference == other
        default: false
        }
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in path.utf8 { hasher.combine(byte) }
    }
}
