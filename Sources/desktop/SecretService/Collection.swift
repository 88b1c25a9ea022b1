internal import CofferClient

/// A collection, as the vault keeps it.
struct Collection {
    /// Its name, which its path and its access group have.
    let name: String
    var label: String
    /// The names that stand for it, besides its own.
    var aliases: Set<String>
    /// Milliseconds since 1970.
    var created: Int64
    /// Milliseconds since 1970.
    var modified: Int64

    /// The collection that is always there, and is the usual one.
    static let login = "login"
    /// The collection whose items are in memory only.
    static let session = "session"
    /// The only other one of a program that is kept apart from others: what is in it is in the access group of the program.
    static let program = "program"
    /// The alias of the collection that programs use.
    static let usualAlias = "default"
}

/// The collections of the vault.
///
/// What is known of one is an item without a secret in an access group of their own. The collection ``Collection/login``
/// needs no such item until a program changes it, so that programs find it in each vault.
final class Collections {
    private let connection: DaemonConnection
    /// Whether they are those of one program, which makes no others.
    private let isOfProgram: Bool
    private(set) var all: [Collection] = []

    static let group = "secret-service"
    private static let aliasPrefix = "alias:"

    init(_ connection: DaemonConnection, isOfProgram: Bool = false) {
        self.connection = connection
        self.isOfProgram = isOfProgram
        forget()
    }

    /// Forgets what the vault does not show before it is unlocked.
    func forget() { all = isOfProgram ? Self.ofProgram : Self.complete([]) }

    private static let ofProgram = [
        Collection(
            name: Collection.program,
            label: "Login",
            aliases: [Collection.usualAlias, Collection.login],
            created: 0,
            modified: 0
        ),
        Collection(name: Collection.session, label: "Session", aliases: [], created: 0, modified: 0),
    ]

    /// Reads the collections.
    func load() throws(CofferError) {
        if isOfProgram { return }
        var found: [Collection] = []
        let query = KeychainQuery(.genericPassword, [.accessGroup: .text(Self.group)])
        try connection.forEachFound(query) { (item) throws(CofferError) in
            if let collection = Collection(item, aliasPrefix: Self.aliasPrefix) { found.append(collection) }
        }
        all = Self.complete(found)
    }

    private static func complete(_ found: [Collection]) -> [Collection] {
        var all = found
        for name in [Collection.login, Collection.session] where !all.contains(where: { $0.name == name }) {
            let label = name == Collection.login ? "Login" : "Session"
            all.append(Collection(name: name, label: label, aliases: [], created: 0, modified: 0))
        }
        if !all.contains(where: { $0.aliases.contains(Collection.usualAlias) }),
            let index = all.firstIndex(where: { $0.name == Collection.login })
        {
            all[index].aliases.insert(Collection.usualAlias)
        }
        return all
    }

    /// A collection by its name.
    func named(_ name: String) -> Collection? { all.first { $0.name == name } }

    /// The collection that an alias, or a name, stands for.
    func aliased(_ alias: String) -> Collection? { all.first { $0.aliases.contains(alias) } ?? named(alias) }

    // MARK: Changing

    /// Makes a collection.
    ///
    /// - Parameter alias: A name that is to stand for it; `nil` for none.
    /// - Returns: Its name.
    func make(labelled label: String, alias: String?) throws(CofferError) -> String {
        let usual = Self.name(for: label)
        var name = usual
        var number = 1
        while named(name) != nil {
            number += 1
            name = "\(usual)_\(number)"
        }
        if let alias { try take(alias) }
        try store(name, label, alias.map { [$0] } ?? [])
        try load()
        return name
    }

    func setLabel(of collection: Collection, to label: String) throws(CofferError) {
        try store(collection.name, label, collection.aliases)
        try load()
    }

    /// Has an alias stand for a collection; `nil` for none.
    func setAlias(_ alias: String, to collection: Collection?) throws(CofferError) {
        try take(alias)
        if let collection { try store(collection.name, collection.label, collection.aliases.union([alias])) }
        try load()
    }

    /// Removes what is known of a collection.
    func remove(_ name: String) throws(CofferError) {
        let params = ItemRemoveParameters(name: try ItemName(name), group: Self.group)
        _ = try connection.unlessMissing { () throws(CofferError) in try connection.call(params) }
        try load()
    }

    /// - Throws: `param` if the collections stay as they are.
    func checkChangeable() throws(CofferError) {
        if isOfProgram { throw Self.areFixed }
    }

    /// Takes an alias away from the collection that has it.
    private func take(_ alias: String) throws(CofferError) {
        guard let former = all.first(where: { $0.aliases.contains(alias) }) else { return }
        if former.created == 0 && alias == Collection.usualAlias { return }
        try store(former.name, former.label, former.aliases.subtracting([alias]))
    }

    private func store(_ name: String, _ label: String, _ aliases: Set<String>) throws(CofferError) {
        try checkChangeable()
        let former = named(name)?.aliases ?? []
        let user = Self.user(aliases)
        let params = ItemPutParameters(
            name: try ItemName(name),
            wishes: PlacementOptions(accessibility: .afterFirstUnlock, store: .keychain, group: Self.group),
            attributes: [.label: .text(label)],
            user: user,
            isIfAbsent: true
        )
        do throws(CofferError) { try connection.call(params) } catch {
            guard error.code == .duplicateItem else { throw error }
            let place: [KeychainAttribute: AttributeValue] = [
                .accessGroup: .text(Self.group), .account: .text(name), .service: .text(""),
            ]
            let change = KeychainChange(
                attributes: [.label: .text(label)],
                user: user,
                removedUser: Set(Self.user(former.subtracting(aliases)).keys)
            )
            try connection.call(KeychainUpdateParameters(KeychainQuery(.genericPassword, place), change))
        }
    }

    private static let areFixed = CofferError(
        .param,
        "this Secret Service keeps programs apart: each has one collection, which stays as it is"
    )

    private static func user(_ aliases: Set<String>) -> [AttributeName: String] {
        Dictionary(uniqueKeysWithValues: aliases.map { (AttributeName(aliasPrefix + $0), "") })
    }

    /// The name of a collection with a label: letters, digits and `_`, so that its access group can have it.
    private static func name(for label: String) -> String {
        let name = label.unicodeScalars.prefix(64).map { scalar in
            scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) ? String(scalar) : "_"
        }
        .joined().lowercased()
        return ["", Collection.session, Collection.program].contains(name) ? "collection" : name
    }
}

extension Collection {
    fileprivate init?(_ item: KeychainItemInfo, aliasPrefix: String) {
        // Another client may have put an item of another name there, which is no collection.
        guard case .text(let name) = item.attributes?[.account], item.attributes?[.service] == .text("") else {
            return nil
        }
        var (label, created, modified) = (name, Int64(0), Int64(0))
        if case .text(let text) = item.attributes?[.label] { label = text }
        if case .date(let date) = item.attributes?[.creationDate] { created = date }
        if case .date(let date) = item.attributes?[.modificationDate] { modified = date }
        let aliases = (item.user ?? [:]).keys.filter { $0.text.hasPrefix(aliasPrefix) }
            .map { String($0.text.dropFirst(aliasPrefix.count)) }
        self.init(name: name, label: label, aliases: Set(aliases), created: created, modified: modified)
    }
}
