public import CofferCore

/// What is listed, asked for page by page as somebody goes through it.
///
/// What comes or goes meanwhile may be in it or not; all else is in it once. Going through it again asks again.
public struct Pages<Element: Sendable>: AsyncSequence, Sendable {
    /// What asking for a page fails with.
    public typealias Failure = CofferError

    /// Fetches a page.
    typealias Fetch = @Sendable (_ cursor: String?) async throws(CofferError) -> (elements: [Element], next: String?)

    private let fetch: Fetch

    init(_ fetch: @escaping Fetch) { self.fetch = fetch }

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(fetch: fetch) }

    /// Goes through the pages.
    public struct Iterator: AsyncIteratorProtocol {
        let fetch: Fetch
        private var elements: ArraySlice<Element> = []
        private var cursor: String?
        private var isLastPage = false

        init(fetch: @escaping Fetch) { self.fetch = fetch }

        /// Gives the next element, and asks for the next page where there is none.
        ///
        /// - Returns: The element; `nil` behind the last page.
        public mutating func next() async throws(CofferError) -> Element? {
            // A page may be empty, and have others behind it.
            while elements.isEmpty {
                if isLastPage { return nil }
                let page = try await fetch(cursor)
                elements = page.elements[...]
                isLastPage = page.next == nil
                cursor = page.next
            }
            return elements.removeFirst()
        }
    }
}
