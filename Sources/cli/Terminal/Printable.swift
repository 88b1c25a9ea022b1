package import CofferCore
package import CofferWire

/// A result with one text form and one JSON form, which all verbs use.
package protocol Printable {
    /// What `--json` prints, on one line.
    var json: JSONObject { get }
    /// The lines for a person.
    var text: [Line] { get }
}

extension FormatOptions {
    /// Prints a result in the requested format.
    package func show(_ result: some Printable, to output: Output = .standardOutput) {
        json ? output.line(result.json) : output.lines(result.text)
    }

    /// Prints a result whose text depends on the verb.
    package func show(_ json: JSONObject, _ text: Line..., to output: Output = .standardOutput) {
        self.json ? output.line(json) : output.lines(text)
    }

    /// Prints a line that only a person needs.
    package func say(_ text: Line) {
        if !json { Output.standardOutput.line(text) }
    }
}

extension Output {
    /// Prints the daemon's warnings about a change.
    package static func warn(_ warnings: [String]) {
        for warning in warnings { standardError.line("\("warning:", in: .yellow) \(warning)") }
    }

    /// Warns of what a listing could not name before the first unlock.
    package static func warn(ofSealed count: Int) {
        if count == 0 { return }
        warn([
            "\(counted(count, "more item is", "more items are")) hidden: 'coffer unlock' shows \(count == 1 ? "it" : "them")"
        ])
    }
}

extension [Line] {
    /// Aligns labelled values in lines, and omits missing ones.
    package init(width: Int, indentation: Int = 0, _ fields: [(label: String, value: Line?)]) {
        self = fields.compactMap { label, value in
            let space = String(repeating: " ", count: Swift.max(1, width - label.count - 1))
            return value.map { "\(String(repeating: " ", count: indentation))\(label):\(space)\($0)" }
        }
    }
}

extension String {
    /// The text in a column: spaces follow a shorter one.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}

/// Requests all pages.
///
/// - Parameters:
///   - ask: Requests the page at a position, and returns the next position; `nil` is the beginning and the
///     end.
package func forEachPage<Position>(
    _ ask: (Position?) throws(CofferError) -> Position?
) throws(CofferError) {
    var position: Position?
    repeat { position = try ask(position) } while position != nil
}

/// Calls a closure for each element and continues after a failure, as rm does.
///
/// - Throws: The exit code of the first failure; every failure was printed.
package func forEachGoingOn<Element>(
    _ elements: [Element],
    _ body: (Element) throws(CofferError) -> Void
) throws(ExitStatus) {
    var first: CofferError?
    for element in elements {
        do throws(CofferError) {
            try body(element)
        } catch {
            Output.report(error)
            first = first ?? error
        }
    }
    if let first { throw ExitStatus(first.code) }
}
