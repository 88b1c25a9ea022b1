internal import ArgumentParser
internal import CofferCore
internal import CofferCommandSupport

/// The class and the attributes of an item, as options.
struct KeychainItemOptions: ParsableArguments {
    @Option(
        name: .customLong("class"),
        help: "The class of the item (default: generic-password; key with --generate)."
    )
    var itemClass: ItemClassArgument?

    @OptionGroup var access: GroupOptions
    @Option(help: "The account.") var account: String?
    @Option(help: "The service of a generic password.") var service: String?
    @Option(help: "The server of an internet password.") var server: String?
    @Option(help: "The protocol of an internet password, such as https.") var `protocol`: String?
    @Option(help: "The port of an internet password.") var port: UInt16?
    @Option(help: "The path of an internet password.") var path: String?
    @Option(help: "A name for people.") var label: String?
    @Option(help: "The kind of a key: ed25519 or x25519.") var keyType: String?
    @Option(help: "The class of a key: private, public or symmetric.") var keyClass: String?
    @Option(help: "A tag of your own for a key.") var applicationTag: String?

    @Option(
        help: ArgumentHelp(
            "Any other attribute, by its name in JSON output; bytes as base64.",
            valueName: "name=value"
        )
    )
    var other: [PairArgument] = []

    @Option(help: ArgumentHelp("An attribute of your own.", valueName: "name=value"))
    var attribute: [PairArgument] = []

    /// The attributes that were given.
    func attributes() throws(CofferError) -> [KeychainAttribute: AttributeValue] {
        let texts: [(KeychainAttribute, String?)] = [
            (.account, account), (.service, service), (.server, server), (.protocol, `protocol`), (.path, path),
            (.label, label), (.keyType, keyType), (.keyClass, keyClass), (.accessGroup, access.group),
        ]
        var values: [KeychainAttribute: AttributeValue] = [:]
        for (attribute, text) in texts {
            if let text { values[attribute] = .text(try textArgument(text, of: "--\(attribute.rawValue)")) }
        }
        if let port { values[.port] = .integer(Int64(port)) }
        if let applicationTag {
            values[.applicationTag] = .bytes(Array(try textArgument(applicationTag, of: "--application-tag").utf8))
        }
        for pair in other {
            let (attribute, value) = try pair.attribute("--other")
            guard values.updateValue(value, forKey: attribute) == nil else { throw .givenTwice("--other", pair.name) }
        }
        return values
    }

    /// The attributes of the user's own that were given.
    func user() throws(CofferError) -> [AttributeName: String] { try texts(of: attribute, "--attribute") }
}

/// Pairs as attributes of the user's own.
func texts(of pairs: [PairArgument], _ option: String) throws(CofferError) -> [AttributeName: String] {
    try unique(pairs, option) { (pair) throws(CofferError) in
        (AttributeName(try textArgument(pair.name, of: option)), try textArgument(pair.value, of: option))
    }
}

/// Reads pairs, of which no two have the same name.
private func unique<Name, Value>(
    _ pairs: [PairArgument],
    _ option: String,
    _ read: (PairArgument) throws(CofferError) -> (Name, Value)
) throws(CofferError) -> [Name: Value] {
    var values: [Name: Value] = [:]
    for pair in pairs {
        let (name, value) = try read(pair)
        guard values.updateValue(value, forKey: name) == nil else { throw .givenTwice(option, pair.name) }
    }
    return values
}

extension CofferError {
    /// The answer to an option that names an attribute which has a value already.
    fileprivate static func givenTwice(_ option: String, _ name: String) -> CofferError {
        CofferError(.param, "\(option) \(quotedForDisplay(name)): the attribute is given twice")
    }
}

/// A query, as options.
struct KeychainQueryOptions: ParsableArguments {
    @OptionGroup var item: KeychainItemOptions

    @Option(
        help: ArgumentHelp(
            "An attribute that begins with this text: label, account, service or server.",
            valueName: "name=text"
        )
    )
    var prefix: [PairArgument] = []

    @Option(
        help: ArgumentHelp(
            "An attribute that contains this text: label, account, service or server.",
            valueName: "name=text"
        )
    )
    var contains: [PairArgument] = []

    @Option(help: ArgumentHelp("The one item of that reference.", valueName: "digits"))
    var reference: String?

    /// The query that was given.
    ///
    /// - Parameter expiringBefore: An expiry date before that time, in milliseconds since 1970.
    func query(expiringBefore: Int64? = nil) throws(CofferError) -> KeychainQuery {
        let (attributes, prefixes) = (try item.attributes(), try Self.search(prefix, "--prefix"))
        let parts = try Self.search(contains, "--contains")
        let named = Set(attributes.keys).union(prefixes.keys).union(parts.keys)
        var query = KeychainQuery(
            item.itemClass?.itemClass ?? ItemClass.classes(with: named).first ?? .genericPassword,
            attributes,
            user: try item.user(),
            prefix: prefixes,
            contains: parts,
            expiringBefore: expiringBefore
        )
        if let reference {
            guard let id = ItemID(hexadecimal: reference) else {
                throw CofferError(
                    .param,
                    "--reference \(quotedForDisplay(reference)): expected 32 lower-case hexadecimal digits"
                )
            }
            query.reference = id
            query.itemClass = item.itemClass?.itemClass
        }
        return query
    }

    /// The queries that were given: one for each class that may be meant.
    func queries(expiringBefore: Int64? = nil) throws(CofferError) -> [KeychainQuery] {
        let query = try query(expiringBefore: expiringBefore)
        if item.itemClass != nil || query.reference != nil { return [query] }
        let named = Set(query.attributes.keys).union(query.prefix.keys).union(query.contains.keys)
        return ItemClass.classes(with: named).map { itemClass in
            var query = query
            query.itemClass = itemClass
            return query
        }
    }

    /// Whether the options name one item, or some, and not all.
    var isRestricted: Bool {
        get throws(CofferError) {
            var query = try query()
            query.attributes[.accessGroup] = nil
            return !query.attributes.isEmpty || !query.user.isEmpty || !query.prefix.isEmpty || !query.contains.isEmpty
                || query.reference != nil
        }
    }

    private static func search(
        _ pairs: [PairArgument],
        _ option: String
    ) throws(CofferError) -> [KeychainAttribute: String] {
        try unique(pairs, option) { (pair) throws(CofferError) in
            (try KeychainAttribute(argument: pair.name, of: option), try textArgument(pair.value, of: option))
        }
    }
}

extension ItemClass {
    /// The stored classes whose items have all of some attributes; a generic password comes first.
    fileprivate static func classes(with attributes: Set<KeychainAttribute>) -> [ItemClass] {
        allCases.filter { $0 != .identity && attributes.isSubset(of: KeychainAttribute.attributes(of: $0)) }
    }
}
