import CofferCore
import CofferTerminal
import Testing

/// Rows in aligned columns.
@Suite struct TableTests {
    private static func lines(_ rows: [[Line]], for width: Int? = nil) -> [String] {
        var table = Table([
            Table.Column(title: "name"), Table.Column(title: "size", isNumber: true),
            Table.Column(title: "note", rank: 1), Table.Column(title: "end", rank: 2),
        ])
        for row in rows { table.add(row) }
        return table.lines(for: width).map(\.forPipe)
    }

    @Test func `numbers stay aligned where the cells behind them are empty, and no line ends with blanks`() {
        let found = Self.lines([["a", "7", "", ""], ["bb", "100", "x", ""], ["c", "20", "", "soon"]])
        #expect(found == ["a     7", "bb  100  x", "c    20     soon"])
    }

    @Test func `an empty column of a higher rank is left out, and one of rank 0 stays`() {
        #expect(Self.lines([["a", "", "", "soon"], ["b", "", "", ""]]) == ["a    soon", "b"])
        #expect(Self.lines([["", "", "", ""]]) == [""])
        #expect(Self.lines([]) == [])
    }

    @Test func `a terminal has a header, and a narrow one the most important columns`() {
        let row: [Line] = ["a", "7", "x", "soon"]
        #expect(Self.lines([row], for: 80) == ["name  size  note  end", "a        7  x     soon"])
        #expect(Self.lines([row], for: 17) == ["name  size  note", "a        7  x"])
        #expect(Self.lines([row], for: 5) == ["name  size", "a     7"])
    }
}
