public import CofferCore

/// The elements of a list, which are fetched page by page while they are iterated.
///
/// An element that is added or removed during the iteration may be included or not; every other one appears
/// once. A new iteration lists anew.
public struct Pages<Element: Sendable>: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// The error of fetching a page.
    public typealias Failure = CofferError

    /// Fetches a page.
    typealias Fetch = @Sendable (_ cursor: String?) async throws(CofferError) -> (elements: [Element], next: String?)

    private let fetch: Fetch
    private var elements: ArraySlice<Element> = []
    private var cursor: String?
    private var isLastPage = false

    init(_ fetch: @escaping Fetch) { self.fetch = fetch }

    /// Creates an iterator that begins with the first page.
    public func makeAsyncIterator() -> Pages { Pages(fetch) }

    /// Returns the next element, after fetching the next page if necessary.
    ///
    /// - Returns: The element; `nil` after the last page.
    public mutating func next() async throws(CofferError) -> Element? {
        // An empty page may be followed by others.
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
