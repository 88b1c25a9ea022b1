internal import ArgumentParser
internal import CofferClient

struct FindKeychainItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Fetch the secret of an item, or list items.",
        discussion: """
            Without --all, --limit, --expiring, --attributes and --json it writes the secret of the first item to standard \
            output as it is; with one of them it lists, and no secret is read. With --expiring it lists all.
            """
    )

    @OptionGroup var query: KeychainQueryOptions

    @Option(help: ArgumentHelp("Items that expire within that time, such as 30d, or before a date.", valueName: "time"))
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
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    private var lists: Bool { all || limit != nil || expiring != nil || attributes || format.json }

    func validate() throws {
        if all && limit != nil { throw ValidationError("give either --all or --limit") }
        if let limit, limit < 1 { throw ValidationError("--limit is 1 or more") }
        if lists && output.output != nil { throw ValidationError("--output is for the secret of one item") }
    }

    func run() throws {
        let before: Int64? = if let expiring { try Moment.milliseconds(expiring, of: "--expiring") } else { nil }
        let wanted = try query.query(expiringBefore: before)
        let session = try authentication.connect()
        if lists { return try list(wanted, session.client) }
        let found = try waiting.repeating(on: session.client) { () throws(CofferError) in
            try session.call(KeychainFindParameters(wanted, order: sort))
        }
        try output.write(found.secrets().compactMap(\.self).first ?? Secret(nil), "the secret")
    }

    private func list(_ wanted: KeychainQuery, _ client: BlockingClient) throws(CofferError) {
        let listsAll = all || expiring != nil && limit == nil
        var left = listsAll ? Int.max : limit ?? 1
        var cursor: String?
        var damagedCount = 0
        var sealedCount = 0
        repeat {
            let params = KeychainFindParameters(
                wanted,
                limit: listsAll ? .all : .count(left),
                cursor: cursor,
                order: sort,
                returns: [.attributes]
            )
            let page = try client.call(params).value
            for item in page.items { format.show(FoundItem(item: item, showsAttributes: attributes)) }
            left -= page.items.count
            damagedCount += page.damagedCount
            sealedCount += page.sealedCount
            cursor = page.cursor
        } while cursor != nil && left > 0
        Output.warn(ofSealed: sealedCount)
        if damagedCount > 0 {
            let items = damagedCount == 1 ? "1 damaged item was" : "\(damagedCount) damaged items were"
            Output.standardError.line("warning: \(items) passed over; 'coffer doctor' names them")
        }
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
        return own.map { "  \($0.key.rawValue): \($0.value.words)" }
            + user.map { "  \(name: $0.key.text): \(name: $0.value)" }
    }
}

extension AttributeValue {
    fileprivate var words: Line {
        switch self {
        case .text(let text): "\(name: text)"
        case .integer(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .bytes(let bytes): "\(Base64.encode(bytes))"
        case .date(let milliseconds): "\(Timestamp.text(milliseconds))"
        }
    }
}
