internal import CofferCore

extension Sequence {
    /// The first elements, at least one, whose JSON fits into an answer.
    ///
    /// - Parameter byteCount: The maximum size of an element's JSON.
    package func firstPage(_ byteCount: (Element) -> Int) -> [Element] {
        var total = 0
        var page: [Element] = []
        for element in self {
            total += byteCount(element)
            if total > Limits.pageJSONBytes && !page.isEmpty { break }
            page.append(element)
        }
        return page
    }
}

extension Array {
    /// The entries behind a position whose JSON fits into an answer, and the position at which the page ends.
    ///
    /// - Parameters:
    ///   - position: The number of the last entry of the former page; `nil` to begin.
    ///   - number: The number of an entry. The entries are in the order of their numbers, which are greater than 0.
    ///   - byteCount: The maximum size of an entry's JSON.
    /// - Returns: The entries, and the number of the last one; `nil` instead of it if no entry follows.
    package func page(
        after position: Int64?,
        _ number: (Element) -> Int64,
        _ byteCount: (Element) -> Int
    ) -> (entries: [Element], next: Int64?) {
        let wanted = filter { number($0) > position ?? 0 }
        let page = wanted.firstPage(byteCount)
        return (page, page.count < wanted.count ? page.last.map(number) : nil)
    }
}
