internal import CofferClient
internal import CofferTerminal

/// What an import does with an item.
package enum ImportAction: String, CaseIterable {
    case store, replace, skip

    /// The name of its count.
    fileprivate var past: String {
        switch self {
        case .store: "stored"
        case .replace: "replaced"
        case .skip: "skipped"
        }
    }
}

/// What an import has done or would do, for people and for programs.
package struct ImportReport {
    /// One item of it.
    package struct Row {
        let action: ImportAction
        let kind: String
        let name: String
        let place: String
        let byteCount: Int

        /// Makes a row.
        ///
        /// - Parameters:
        ///   - kind: The kind of item, such as `secret`.
        ///   - place: The place of the item in the source, such as its collection.
        package init(_ action: ImportAction, _ kind: String, _ name: String, place: String, byteCount: Int) {
            (self.action, self.kind, self.name, self.place) = (action, kind, name, place)
            self.byteCount = byteCount
        }
    }

    package var rows: [Row] = []
    /// How many items are not stored.
    package var leftOut = 0

    package init() {}

    /// Whether the source had nothing.
    package var isEmpty: Bool { rows.isEmpty && leftOut == 0 }

    /// Prints what a dry run has found.
    package func showPlan(json: Bool) {
        if json { return rows.forEach { Output.standardOutput.line($0.json) } }
        var table = Table([
            .init(title: "ACTION"), .init(title: "WHAT"), .init(title: "SIZE", isNumber: true), .init(title: "NAME"),
        ])
        for row in rows {
            let size = ByteCount.text(Int64(row.byteCount))
            table.add(["\(row.action.rawValue)", "\(row.kind)", "\(size)", "\(name: row.name)"])
        }
        Output.standardOutput.lines(table.lines(for: Output.standardOutput.columnCount))
        Output.standardError.line("nothing was stored: this was a dry run, which would have \(counts)")
    }

    /// Prints what was done.
    package func show(json: Bool) {
        guard json else { return Output.standardOutput.line(counts) }
        for row in rows { Output.standardOutput.line(row.json) }
        var object = JSONObject()
        for action in ImportAction.allCases { object.set(action.past, .integer(Int64(count(action)))) }
        object.set("leftOut", .integer(Int64(leftOut)))
        Output.standardOutput.line(object)
    }

    private func count(_ action: ImportAction) -> Int { rows.count { $0.action == action } }

    /// The numbers of all that the source has.
    private var counts: Line {
        let all = counted(rows.count + leftOut, "item", "items")
        let numbers: Line =
            "stored \(count(.store)), replaced \(count(.replace)), skipped \(count(.skip))"
        return leftOut == 0 ? "\(numbers) of \(all)" : "\(numbers), left out \(leftOut) of \(all)"
    }
}

extension ImportReport.Row {
    fileprivate var json: JSONObject {
        var object = JSONObject()
        object.set("name", .string(name))
        object.set("kind", .string(kind))
        object.set("action", .string(action.rawValue))
        object.set("place", .string(place))
        object.set("size", .integer(Int64(byteCount)))
        return object
    }
}
