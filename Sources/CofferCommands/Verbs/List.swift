internal import ArgumentParser
internal import CofferClient
internal import Glibc

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the items of both stores, sorted by name.",
        discussion:
            "In a pattern, '*' stands for any text within a part of a name, '**' for any text, '?' for one character."
    )

    @Argument(help: "Names that begin with it only; with '*' or '?' in it, names that fit it as a pattern.")
    var prefix: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Ignore the case of letters in names; as it is without this where PREFIX has no capital."
    )
    var ignoreCase: Bool?

    @Option(help: "Items of one store only.")
    var store: StoreName?

    @Flag(name: .shortAndLong, help: "Show store, protection, size, date and whether it can be read now.")
    var long = false

    @Option(help: ArgumentHelp("Items that expire within that time, such as 30d, or before a date.", valueName: "time"))
    var expiring: String?

    @OptionGroup var access: GroupOptions

    @Flag(help: "List the items of all access groups that you may name, and show the group of each.")
    var allGroups = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if allGroups && access.group != nil { throw ValidationError("give either --group or --all-groups") }
    }

    func run() throws {
        let isPattern = prefix?.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") } ?? false
        let pattern = isPattern ? try prefix.map { try NamePattern($0) } : nil
        let before: Int64? = if let expiring { try Moment.milliseconds(expiring, of: "--expiring") } else { nil }
        let client = try connection.connect()
        var items: [ItemInfo] = []
        var damagedCount = 0
        var sealedCount = 0
        try forEachPage { (after: String?) throws(CofferError) in
            let params = ItemListParameters(
                prefix: isPattern ? nil : prefix,
                pattern: pattern,
                ignoresCase: ignoreCase ?? !hasCapital,
                store: store,
                after: after,
                expiringBefore: before,
                group: access.group,
                isOfAllGroups: allGroups
            )
            let page = try client.call(params).value
            items += page.items
            damagedCount += page.damagedCount
            sealedCount += page.sealedCount
            return page.next
        }
        items.sortByName(\.name, in: \.group)
        let isTerminal = Output.standardOutput.isTerminal
        for item in items {
            format.show(ListedItem(item: item, isLong: long, showsGroup: allGroups, isTerminal: isTerminal))
        }
        Output.warn(ofSealed: sealedCount)
        if damagedCount > 0 { throw CofferError.damagedItems(damagedCount) }
    }

    private var hasCapital: Bool { prefix.map { $0 != $0.lowercased() } ?? false }
}

extension CofferError {
    /// The end of a listing that could not name every item.
    static func damagedItems(_ count: Int) -> CofferError {
        CofferError(
            .decode,
            "\(count) items are damaged or were tampered with, and have no name to list",
            hint: "'coffer doctor' names them, as far as that can be done"
        )
    }
}

/// An entry of a listing.
private struct ListedItem: Printable {
    let item: ItemInfo
    let isLong: Bool
    let showsGroup: Bool
    let isTerminal: Bool

    var json: JSONObject { item.json }

    var text: [Line] {
        let columns = isLong ? columns + "  " : ""
        // Scripts get only the name.
        let marks = (item.isLeftBehind ? "  left behind" : "") + (item.isExpired ? "  expired" : "")
        let group = showsGroup ? item.group + "  " : ""
        return ["\(columns)\(group)\(name: item.name)\(isLong || isTerminal ? marks : "")"]
    }

    private var columns: String {
        [
            item.isReadable ? "readable" : "locked  ",
            item.protection.store.rawValue.padded(to: 8),
            item.protection.name.padded(to: 36),
            ByteCount.text(item.byteCount).padded(to: 8),
            Timestamp.text(item.modified),
        ].joined(separator: "  ")
    }
}

extension Array {
    /// Sorts a listing by the bytes of the names, and removes duplicates.
    ///
    /// - Parameters:
    ///   - name: Returns the name of an entry. An item that moved between the stores during the listing may be listed
    ///     twice.
    ///   - group: Returns its access group, if the entries may be of several.
    mutating func sortByName(_ name: (Element) -> String, in group: (Element) -> String = { _ in "" }) {
        func isSame(_ one: Element, _ other: Element) -> Bool { name(one).utf8.elementsEqual(name(other).utf8) }
        let sorted = sorted { one, other in
            isSame(one, other)
                ? group(one).utf8.lexicographicallyPrecedes(group(other).utf8)
                : name(one).utf8.lexicographicallyPrecedes(name(other).utf8)
        }
        self = []
        for entry in sorted {
            if let last, isSame(last, entry), group(last).utf8.elementsEqual(group(entry).utf8) { continue }
            append(entry)
        }
    }
}

/// Formats dates.
enum Timestamp {
    /// The local time, such as `2026-11-21 05:36:59`.
    static func text(_ milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = unsafe tm()
        unsafe localtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
