package import CofferCore
internal import CofferSystem

/// Rows in aligned columns, of which a narrow terminal shows the most important.
package struct Table {
    /// A column.
    package struct Column {
        let title: Line
        /// Columns of a higher rank are left out first; one of rank 0 never is.
        var rank = 0
        var isNumber = false

        package init(title: Line, rank: Int = 0, isNumber: Bool = false) {
            self.title = title
            self.rank = rank
            self.isNumber = isNumber
        }
    }

    /// The columns; the last one is not filled up.
    let columns: [Column]
    private(set) var rows: [[Line]] = []

    package init(_ columns: [Column]) { self.columns = columns }

    package mutating func add(_ row: [Line]) { rows.append(row) }

    /// The rows as lines, without the columns of a higher rank than 0 that are empty.
    ///
    /// - Parameter width: The columns of the terminal: a header is shown, and what does not fit is left out. `nil` for a
    ///   pipe, which gets the rows whole.
    package func lines(for width: Int?) -> [Line] {
        if rows.isEmpty { return [] }
        let all = (width == nil ? [] : [columns.map(\.title)]) + rows
        let widths = columns.indices.map { index in all.map { $0[index].width }.max() ?? 0 }
        let shown = shownColumns(widths, within: width)
        return all.map { row in
            // What ends a line is not filled up behind.
            let end = shown.lastIndex { row[$0].width > 0 } ?? shown.startIndex
            return shown[...end].map { index in
                if index == shown.last || index == shown[end] && !columns[index].isNumber { return row[index] }
                let space = String(repeating: " ", count: widths[index] - row[index].width)
                return columns[index].isNumber ? "\(space)\(row[index])" : "\(row[index])\(space)"
            }
            .joined(separator: "  ")
        }
    }

    private func shownColumns(_ widths: [Int], within width: Int?) -> [Int] {
        var shown = columns.indices.filter { index in
            columns[index].rank == 0 || rows.contains { $0[index].width > 0 }
        }
        guard let width else { return shown }
        func isTooWide() -> Bool { shown.reduce(-2) { $0 + widths[$1] + 2 } > width }
        while isTooWide(),
            let last = shown.filter({ columns[$0].rank > 0 }).max(by: { columns[$0].rank < columns[$1].rank })
        {
            shown.removeAll { $0 == last }
        }
        return shown
    }
}

extension [Line] {
    /// The lines as one, with a separator between them.
    package func joined(separator: Line) -> Line { dropFirst().reduce(first ?? "") { "\($0)\(separator)\($1)" } }
}

extension Line {
    /// How many columns of a terminal the line takes.
    var width: Int { forTerminal.withoutColours.columnCount }
}

extension Output {
    /// The columns of the terminal; `nil` if this is none.
    package var columnCount: Int? { isTerminal ? terminalColumnCount(of: descriptor) ?? Pager.columnCount ?? 80 : nil }
}
