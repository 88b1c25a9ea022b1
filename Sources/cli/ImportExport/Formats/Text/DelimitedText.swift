internal import CofferClient

/// The rows of a text of RFC 4180, whose values stay where they are until they are asked for.
struct DelimitedText: Sendable {
    /// A value of a row.
    struct Cell: Sendable {
        /// Without the quotes around it.
        let range: Range<Int>
        /// Whether a pair of quotes in it stands for one.
        let hasQuotes: Bool
    }

    /// A row.
    struct Row: Sendable {
        /// The number of its first line.
        let line: Int
        fileprivate let cells: [Cell]
    }

    private let source: Secret
    /// The names of the columns.
    let header: [String]
    /// The rows below.
    let rows: [Row]
    /// The lines that are no rows, and why.
    let faults: [(line: Int, fault: CofferError)]

    /// Finds the rows.
    ///
    /// - Throws: `param` with the line of what is not of the format; `dataTooLarge` beyond a bound.
    init(_ source: Secret) throws(CofferError) {
        let start = try source.textStart()
        var (all, faults): ([Row], [(line: Int, fault: CofferError)]) = ([], [])
        try source.withBytes { (bytes) throws(CofferError) in
            var scanner = RowScanner(position: start, separator: Self.separator(bytes, start))
            all = try scanner.rows(in: bytes)
            faults = scanner.faults
        }
        self.source = source
        guard let first = all.first else { throw .malformed("the file is empty") }
        var header: [String] = []
        for cell in first.cells { header.append(try Self.value(of: cell, source)?.exposeText() ?? "") }
        self.header = header
        for row in all where row.cells.count != header.count {
            let words = "\(row.cells.count) values, and the first line names \(header.count) columns"
            let fault = CofferError.malformed(
                "line \(row.line): it has \(words)",
                hint: "a value with a comma or a line end has quotes around it"
            )
            faults.append((row.line, fault))
        }
        rows = all.dropFirst().filter { $0.cells.count == header.count }
        self.faults = faults
    }

    /// The value of a column; `nil` if it is empty.
    func value(_ column: Int, of row: Row) throws(CofferError) -> Secret? {
        try Self.value(of: row.cells[column], source)
    }

    private static func value(of cell: Cell, _ source: Secret) throws(CofferError) -> Secret? {
        if cell.range.isEmpty { return nil }
        guard cell.hasQuotes else { return try source.part(cell.range) }
        return try source.withBytes { (bytes) throws(CofferError) in
            var output = try SecretBuffer(capacity: cell.range.count)
            var place = cell.range.lowerBound
            while place < cell.range.upperBound {
                let byte = bytes.byte(at: place)
                try output.append(byte)
                place += byte == UInt8(ascii: "\"") ? 2 : 1
            }
            return try output.finish()
        }
    }

    /// The character between the columns of the first line: a comma, or where there is none a semicolon or a tab.
    private static func separator(_ bytes: RawSpan, _ start: Int) -> UInt8 {
        let end = bytes.place(of: 10, in: start..<bytes.byteCount) ?? bytes.byteCount
        let candidates: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), 9]
        return candidates.first { bytes.place(of: $0, in: start..<end) != nil } ?? candidates[0]
    }
}

/// Divides a text into rows and cells.
private struct RowScanner {
    var position: Int
    let separator: UInt8
    private(set) var faults: [(line: Int, fault: CofferError)] = []
    private var line = 1

    init(position: Int, separator: UInt8) {
        self.position = position
        self.separator = separator
    }

    mutating func rows(in bytes: RawSpan) throws(CofferError) -> [DelimitedText.Row] {
        var rows: [DelimitedText.Row] = []
        while position < bytes.byteCount {
            let row: DelimitedText.Row
            let start = line
            do throws(CofferError) {
                row = try self.row(in: bytes)
            } catch {
                // The first line names the columns, and behind a quote that is never closed nothing is certain.
                guard !rows.isEmpty, position < bytes.byteCount else { throw error }
                guard faults.count < Limits.importEntries else { throw error }
                faults.append((start, error))
                skipLine(in: bytes)
                continue
            }
            // An empty line is no row, as at the end of the file.
            if row.cells.count == 1, row.cells[0].range.isEmpty { continue }
            guard rows.count <= Limits.importEntries else {
                throw .tooLarge("line \(row.line): there are more than \(Limits.importEntries) rows")
            }
            rows.append(row)
        }
        return rows
    }

    private mutating func row(in bytes: RawSpan) throws(CofferError) -> DelimitedText.Row {
        let start = line
        var cells: [DelimitedText.Cell] = []
        while true {
            guard cells.count < Limits.importFields else {
                throw .tooLarge("line \(start) has more than \(Limits.importFields) columns")
            }
            let cell = try cell(in: bytes)
            guard cell.range.count <= Limits.importFieldBytes else {
                throw .tooLarge("line \(start) has a value of more than \(Limits.importFieldBytes) bytes")
            }
            cells.append(cell)
            guard position < bytes.byteCount, bytes.byte(at: position) == separator else { break }
            position += 1
        }
        endLine(in: bytes)
        return DelimitedText.Row(line: start, cells: cells)
    }

    private mutating func skipLine(in bytes: RawSpan) {
        position = bytes.place(of: 10, in: position..<bytes.byteCount) ?? bytes.byteCount
        endLine(in: bytes)
    }

    private mutating func endLine(in bytes: RawSpan) {
        if bytes.has("\r\n", at: position) { position += 1 }
        position += 1
        line += 1
    }

    private mutating func cell(in bytes: RawSpan) throws(CofferError) -> DelimitedText.Cell {
        guard position < bytes.byteCount, bytes.byte(at: position) == UInt8(ascii: "\"") else {
            return try bareCell(in: bytes)
        }
        let (start, first) = (position + 1, line)
        var hasQuotes = false
        position += 1
        while position < bytes.byteCount {
            let byte = bytes.byte(at: position)
            position += 1
            if byte == 10 { line += 1 }
            guard byte == UInt8(ascii: "\"") else { continue }
            guard position < bytes.byteCount, bytes.byte(at: position) == byte else {
                try requireEnd(in: bytes)
                return DelimitedText.Cell(range: start..<(position - 1), hasQuotes: hasQuotes)
            }
            hasQuotes = true
            position += 1
        }
        throw .malformed("line \(first): a quote is opened and never closed")
    }

    private func requireEnd(in bytes: RawSpan) throws(CofferError) {
        guard position < bytes.byteCount else { return }
        let byte = bytes.byte(at: position)
        guard byte == separator || byte == 10 || byte == 13 else {
            throw .malformed(
                "line \(line): text follows a closing quote",
                hint: "a quote inside a value is written twice"
            )
        }
    }

    private mutating func bareCell(in bytes: RawSpan) throws(CofferError) -> DelimitedText.Cell {
        let start = position
        while position < bytes.byteCount {
            let byte = bytes.byte(at: position)
            if byte == separator || byte == 10 || bytes.has("\r\n", at: position) { break }
            guard byte != UInt8(ascii: "\"") else {
                throw .malformed(
                    "line \(line): a quote stands inside a value without quotes around it",
                    hint: "a quote inside a value is written twice, and the value has quotes around it"
                )
            }
            position += 1
        }
        return DelimitedText.Cell(range: start..<position, hasQuotes: false)
    }
}
