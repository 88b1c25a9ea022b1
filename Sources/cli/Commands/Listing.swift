internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

/// The items that a listing or a search found, sorted by name.
struct Listing {
    /// How a listing is shown.
    enum Style {
        case names, table, tree
    }

    private let items: [ItemInfo]
    private let damagedCount: Int
    private let sealedCount: Int
    /// The items that share their name with another one of their group.
    private let namesakes: Set<ItemID>

    /// Requests all pages.
    ///
    /// - Parameters:
    ///   - client: The connection.
    ///   - parameters: Returns the parameters of the page at a position.
    init(
        from client: BlockingClient,
        _ parameters: (_ after: String?) -> ItemListParameters
    ) throws(CofferError) {
        var (items, damagedCount, sealedCount): ([ItemInfo], Int, Int) = ([], 0, 0)
        try client.takePages(parameters) { (page: ItemPage) throws(CofferError) in
            items += page.items
            damagedCount += page.damagedCount
            sealedCount += page.sealedCount
        }
        items.sortByName(\.name, in: \.group, \.reference)
        (self.items, self.damagedCount, self.sealedCount) = (items, damagedCount, sealedCount)
        // They are neighbours now. Names are the same only if their bytes are.
        let pairs = zip(items, items.dropFirst()).filter { one, other in
            one.name.hasSameBytes(as: other.name) && one.group.hasSameBytes(as: other.group)
        }
        namesakes = Set(pairs.flatMap { [$0.0.reference, $0.1.reference] }.compactMap(\.self))
    }

    var isEmpty: Bool { items.isEmpty }

    /// The names, as they can be typed.
    var names: [String] { items.map(typedName) }

    private func typedName(of item: ItemInfo) -> String {
        guard let reference = item.reference, namesakes.contains(reference) else { return item.name }
        return "reference:\(reference.hexadecimal)"
    }

    /// Prints the items.
    ///
    /// - Throws: `decode` if some could not be named.
    func show(_ style: Style, showsGroups: Bool = false, _ format: FormatOptions) throws(CofferError) {
        let output = Output.standardOutput
        if format.json {
            for item in items { output.line(item.json) }
        } else {
            switch style {
            case .names:
                let marks = output.isTerminal
                output.lines(items.lazy.map { name(of: $0, showsGroups, marks: marks) })
            case .table: output.lines(table(showsGroups).lines(for: output.columnCount))
            case .tree: output.lines(tree(showsGroups).lines)
            }
        }
        Output.warn(ofSealed: sealedCount)
        if damagedCount > 0 { throw CofferError.damagedItems(damagedCount) }
    }

    /// The name as it can be typed, and what a person should know of the item.
    private func name(of item: ItemInfo, _ showsGroup: Bool, marks: Bool) -> Line {
        let group: Line = showsGroup ? "\(item.group)  " : ""
        // Scripts get only the name.
        let mark: Line = marks ? item.marks : ""
        let typed = typedName(of: item)
        if !showsGroup && !marks { return "\(name: typed)" }
        let called: Line = marks && typed != item.name ? "  \(name: item.name)" : ""
        return "\(group)\(name: typed)\(called)\(mark)"
    }

    private func tree(_ showsGroups: Bool) -> NameTree {
        guard showsGroups else { return NameTree(names.map(\.parts)) }
        let groups = Set(items.map(\.group)).sorted().map { [Substring($0)] }
        return NameTree(groups + zip(items, names).map { [Substring($0.group)] + $1.parts })
    }

    private func table(_ showsGroups: Bool) -> Table {
        var table = Table([
            .init(title: "WHAT", rank: 2), .init(title: "NOW", rank: 4), .init(title: "READABLE", rank: 1),
            .init(title: "SIZE", rank: 3, isNumber: true), .init(title: "CHANGED", rank: 5), .init(title: "NAME"),
        ])
        for item in items {
            table.add([
                "\(item.kindWord)", item.isReadable ? "readable" : "locked", "\(item.protection.words)",
                "\(ByteCount.text(item.byteCount))", "\(Timestamp.minutes(item.modified))",
                name(of: item, showsGroups, marks: true),
            ])
        }
        return table
    }
}

extension ItemInfo {
    fileprivate var marks: Line {
        "\(isLeftBehind ? "  left behind" : "", in: .red)\(isExpired ? "  expired" : "", in: .yellow)"
    }
}

extension CofferError {
    /// The end of a listing that could not name every item.
    static func damagedItems(_ count: Int) -> CofferError {
        CofferError(
            .decode,
            counted(
                count,
                "item is damaged or was tampered with, and has",
                "items are damaged or were tampered with, and have"
            )
                + " no name to list",
            hint: "'coffer doctor' names them, as far as that can be done"
        )
    }
}

extension String {
    /// The parts of a name.
    fileprivate var parts: [Substring] { utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) } }
}

/// The names of a listing as a tree of their parts.
private struct NameTree {
    private var children: [(part: Substring, tree: NameTree)] = []
    /// The indices of the children, by the bytes of their parts.
    private var places: [[UInt8]: Int] = [:]

    /// Makes the tree of the parts of sorted names.
    init(_ names: [[Substring]]) {
        for parts in names { insert(parts[...]) }
    }

    private mutating func insert(_ parts: ArraySlice<Substring>) {
        guard let part = parts.first else { return }
        let key = Array(part.utf8)
        if places[key] == nil {
            places[key] = children.count
            children.append((part, NameTree([])))
        }
        if let place = places[key] { children[place].tree.insert(parts.dropFirst()) }
    }

    var lines: [Line] { children.flatMap { ["\(name: String($0.part))"] + $0.tree.branches(below: "") } }

    private func branches(below indentation: Line) -> [Line] {
        children.enumerated().flatMap { index, child -> [Line] in
            let isLast = index == children.count - 1
            let own: Line = "\(indentation)\(isLast ? "└── " : "├── " as Line)\(name: String(child.part))"
            return [own] + child.tree.branches(below: "\(indentation)\(isLast ? "    " : "│   " as Line)")
        }
    }
}
