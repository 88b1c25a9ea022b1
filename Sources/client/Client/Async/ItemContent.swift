public import CofferCore
internal import CofferWire

/// The content of an item, in pieces of at most 64 KiB.
///
/// Each iteration fetches it anew, one piece at a time, so the memory does not depend on the size. If it
/// throws, the pieces so far are only a part of the content. An iterator that is dropped before the end aborts the
/// transfer.
public struct ItemContent: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// A piece.
    public typealias Element = Secret
    /// The error of a transfer.
    public typealias Failure = CofferError

    private let client: CofferClient
    private let params: ItemGetParameters
    private var download: Download?
    private var byteCount: Int64 = 0
    private var hasEnded = false

    init(_ params: ItemGetParameters, of client: CofferClient) {
        self.params = params
        self.client = client
    }

    /// Creates an iterator, which fetches nothing until the first piece is requested.
    public func makeAsyncIterator() -> ItemContent { ItemContent(params, of: client) }

    /// Waits for the next piece.
    ///
    /// - Returns: The piece; `nil` after the last one, when all have arrived as they were stored.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` if the key is not in memory; `decode` if it is
    ///   damaged.
    public mutating func next() async throws(CofferError) -> Secret? {
        if hasEnded { return nil }
        do throws(CofferError) {
            let stream = try begun().stream
            if let piece = try await stream.read() {
                byteCount += Int64(piece.count)
                return piece
            }
            let last = try lastPiece(await stream.outcome().get())
            end()
            return last
        } catch {
            end()
            throw error
        }
    }

    private mutating func begun() throws(CofferError) -> Download {
        if let download { return download }
        let new = Download(try client.beginStream(params))
        download = new
        return new
    }

    private mutating func end() {
        hasEnded = true
        download = nil
    }

    /// A keychain item arrives in the answer.
    ///
    /// A file arrives before it, and the answer has its size.
    private func lastPiece(_ answer: Answer) throws(CofferError) -> Secret? {
        let announced = try ItemGetParameters.coding.result(answer.json).byteCount
        let received = byteCount + Int64(answer.payload.count)
        guard announced == received else { throw .wrongCount(announced: announced, received) }
        return answer.payload.count > 0 ? answer.payload : nil
    }
}

/// A transfer that is aborted when it is dropped.
private final class Download: Sendable {
    let stream: ContentStream

    init(_ stream: ContentStream) { self.stream = stream }

    deinit { stream.release() }
}
