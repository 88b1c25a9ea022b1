internal import ArgumentParser
internal import CofferClient
internal import CofferMemory
internal import CofferCommandSupport
internal import CofferTerminal

struct FindKeychainItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Fetch the secret of an item, or list items.",
        discussion: """
            A query writes the secret of the first item that matches to standard output as it is. Without a query, or with \
            --all, --limit, --expiring, --attributes or --json, it lists items, and no secret is read. Without --class, the \
            attributes say which class is meant: --server an internet password.
            """
    )

    @OptionGroup var query: KeychainQueryOptions

    @Option(help: ArgumentHelp("Items that expire within a time, such as 30d, or by a date.", valueName: "time"))
    var expiring: String?

    @Flag(help: "List all of them.")
    var all = false

    @Option(help: ArgumentHelp("List that many at most.", valueName: "count"))
    var limit: Int?

    @Flag(help: "Show the attributes.")
    var attributes = false

    @Option(parsing: .unconditional, help: "The order: by a date, with a leading '-' the latest first.")
    var sort: KeychainOrder?

    @OptionGroup var output: BytesOutputOptions
    @OptionGroup var key: KeyFormatOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    private var lists: Bool {
        get throws(CofferError) {
            if all || limit != nil || expiring != nil || attributes || format.json { return true }
            return try !query.isRestricted
        }
    }

    func validate() throws {
        try exclude(["--all": all], ["--limit": limit != nil])
        if let limit, limit < 1 { throw ValidationError("--limit is 1 or more") }
        guard try lists else { return }
        if output.output != nil { throw ValidationError("--output is for the secret of one item") }
        if key.keyFormat != nil { throw ValidationError("--format is for the secret of one item") }
    }

    func run() throws {
        let before: Int64? = if let expiring { try Moment.end(expiring, of: "--expiring") } else { nil }
        let wanted = try query.query(expiringBefore: before)
        let queries = try query.queries(expiringBefore: before)
        let lists = try lists
        let session = try authentication.connect()
        if lists { return try list(try listsAll ? queries : [wanted], session.client) }
        let secret = try waiting.repeating(on: session.client) { () throws(CofferError) in
            try self.secret(wanted, session)
        }
        try output.write(secret, "the secret")
    }

    /// The secret of the first item; a key in its format.
    private func secret(_ wanted: KeychainQuery, _ session: Session) throws(CofferError) -> Secret {
        func find(_ returns: Set<KeychainReturn>) throws(CofferError) -> (item: KeychainItemInfo?, secret: Secret?) {
            let found = try session.call(KeychainFindParameters(wanted, order: sort, returns: returns))
            return (found.value.items.first, try found.secrets().compactMap(\.self).first)
        }
        guard case (let item?, let secret?) = try find([.attributes, .data]) else {
            // What is not extractable is returned without its data: the daemon says why if it is asked for that alone.
            return try find([.data]).secret ?? Secret(nil)
        }
        return try key.format(secret, of: key.key(of: item))
    }

    private var listsAll: Bool {
        get throws(CofferError) {
            if limit != nil { return false }
            if all || expiring != nil { return true }
            return try !query.isRestricted
        }
    }

    private func list(_ queries: [KeychainQuery], _ client: BlockingClient) throws(CofferError) {
        var left = try listsAll ? Int.max : limit ?? 1
        var (foundCount, damagedCount, sealedCount) = (0, 0, 0)
        var refusals: [CofferError] = []
        for wanted in queries {
            var ofClass = (damaged: 0, sealed: 0)
            do throws(CofferError) {
                try forEachPage { (cursor: String?) throws(CofferError) -> String? in
                    let params = KeychainFindParameters(
                        wanted,
                        limit: left == .max ? .all : .count(left),
                        cursor: cursor,
                        order: sort,
                        returns: [.attributes]
                    )
                    let page = try client.call(params).value
                    for item in page.items { format.show(FoundItem(item: item, showsAttributes: attributes)) }
                    foundCount += page.items.count
                    if left != .max { left -= page.items.count }
                    ofClass = (ofClass.damaged + page.damagedCount, ofClass.sealed + page.sealedCount)
                    return left > 0 ? page.cursor : nil
                }
            } catch  where queries.count > 1 && error.isOfWhatMatches {
                refusals.append(error)
                if error.code == .decode { ofClass.damaged = max(ofClass.damaged, 1) }
                if error.code == .interactionNotAllowed { ofClass.sealed = max(ofClass.sealed, 1) }
            }
            // What can't be opened may be of each class, and is counted for each.
            damagedCount = max(damagedCount, ofClass.damaged)
            sealedCount = max(sealedCount, ofClass.sealed)
        }
        if foundCount == 0, let refusal = refusals.first(where: { $0.code != .itemNotFound }) ?? refusals.first {
            throw refusal
        }
        Output.warn(ofSealed: sealedCount)
        if damagedCount > 0 {
            let items = damagedCount == 1 ? "1 damaged item was" : "\(damagedCount) damaged items were"
            Output.standardError.line("warning: \(items) passed over; 'coffer doctor' names them")
        }
    }
}

extension CofferError {
    /// Whether it says that nothing was found, or that what may match can't be read.
    fileprivate var isOfWhatMatches: Bool {
        code == .itemNotFound || code == .decode || code == .interactionNotAllowed
    }
}

/// An item that a query found.
private struct FoundItem: Printable {
    let item: KeychainItemInfo
    let showsAttributes: Bool

    var json: JSONObject { item.json }

    var text: [Line] {
        let state = item.isLeftBehind ? "  left behind" : item.isLocked ? "  locked" : ""
        let marks = state + (item.isExpired ? "  expired" : "")
        let head: Line = "\(item.reference.hexadecimal)  \(item.itemClass.kebabCase)\(item.title)\(marks)"
        return [head] + (showsAttributes ? item.lines : [])
    }
}

extension KeychainItemInfo {
    /// What a person knows the item by, two spaces before each part.
    fileprivate var title: Line {
        let attributes = self.attributes ?? [:]
        let order: [KeychainAttribute] = [.label, .service, .server, .account]
        return order.reduce(into: "") { title, attribute in
            guard case .text(let text) = attributes[attribute], !text.isEmpty else { return }
            title = "\(title)  \(name: text)"
        }
    }

    /// The attributes by name, in words.
    fileprivate var lines: [Line] {
        let own = (attributes ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
        let user = (user ?? [:]).sorted { $0.key < $1.key }
        return own.map { "  \($0.key.words): \($0.value.words(of: $0.key))" }
            + user.map { "  \(name: $0.key.text): \(name: $0.value)" }
    }
}

extension AttributeValue {
    /// The value of an attribute for people, who read an accessibility in words.
    fileprivate func words(of attribute: KeychainAttribute) -> Line {
        guard attribute == .accessible, case .text(let name) = self else { return words }
        return "\(Accessibility(rawValue: name)?.words ?? name)"
    }

    /// The value for people: bytes as base64.
    var words: Line {
        switch self {
        case .text(let text): "\(name: text)"
        case .integer(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .bytes(let bytes): "\(Base64.encode(bytes))"
        case .date(let milliseconds): "\(Timestamp.text(milliseconds))"
        }
    }
}
