internal import CofferCore
internal import CofferWire

/// A result that prints itself: what a verb shows is said in one place, for people and for programs.
protocol Printable {
    /// What `--json` prints, on one line.
    var json: JSONObject { get }
    /// What is printed for people.
    var text: [Line] { get }
}

extension FormatOptions {
    /// Shows a result in the form that was asked for.
    func show(_ result: some Printable, to output: Output = .standardOutput) {
        json ? output.line(result.json) : output.lines(result.text)
    }

    /// Shows a result whose words depend on the verb.
    func show(_ json: JSONObject, _ text: Line..., to output: Output = .standardOutput) {
        self.json ? output.line(json) : output.lines(text)
    }

    /// Shows what only a person wants to know.
    func say(_ text: Line) {
        if !json { Output.standardOutput.line(text) }
    }
}

extension Output {
    func lines(_ lines: [Line]) {
        for line in lines { self.line(line) }
    }

    /// Tells a person what the daemon has to say of a change that it has made.
    static func warn(_ warnings: [String]) {
        for warning in warnings { standardError.line("warning: \(warning)") }
    }
}

extension [Line] {
    /// Values under each other, each behind what it is; those that are not there are left out.
    init(width: Int, indentation: Int = 0, _ fields: [(label: String, value: Line?)]) {
        self = fields.compactMap { label, value in
            let space = String(repeating: " ", count: Swift.max(1, width - label.count - 1))
            return value.map { "\(String(repeating: " ", count: indentation))\(label):\(space)\($0)" }
        }
    }
}

extension String {
    /// The text in a column: spaces follow a shorter one.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}

/// Asks for page after page.
///
/// - Parameters:
///   - ask: Asks for the page at a position; `nil` is the beginning. Returns the next position; `nil` at the end.
func forEachPage<Position>(
    _ ask: (Position?) throws(CofferError) -> Position?
) throws(CofferError) {
    var position: Position?
    repeat { position = try ask(position) } while position != nil
}

/// Does something with each, and goes on after a failure, as rm does it.
///
/// - Throws: The exit code of the first failure; each was told.
func forEachGoingOn<Element>(_ elements: [Element], _ body: (Element) throws(CofferError) -> Void) throws(ExitStatus) {
    var first: CofferError?
    for element in elements {
        do throws(CofferError) {
            try body(element)
        } catch {
            Output.standardError.write(error)
            first = first ?? error
        }
    }
    if let first { throw ExitStatus(first.code) }
}
