/// The number of the row after which a listing or a check continues, in a cursor.
///
/// Without digits it is the beginning: the number of a damaged row may be any.
package enum RowCursor {
    package static func text(_ number: Int64?) -> String { number.map { "\($0)" } ?? "" }

    /// - Returns: `nil` if the text is none.
    package static func number(_ text: String) -> Int64?? {
        if text.isEmpty { return .some(nil) }
        return Int64(text).map { $0 }
    }
}
