public import CofferCore
internal import CofferWire

/// The content of an item, in pieces of at most 64 KiB, whatever its size.
///
/// Going through it asks for it, each time anew. No more is read than is asked for: a file of any size takes the memory of a
/// piece. It fails where it does not come to its end, so what came before a failure is a part of the content only.
public struct ItemContent: AsyncSequence, Sendable {
    /// A piece.
    public typealias Element = Secret
    /// What the transfer fails with.
    public typealias Failure = CofferError

    let client: CofferClient
    let params: ItemGetParameters

    /// Begins at the beginning; the content is asked for with the first piece.
    public func makeAsyncIterator() -> Iterator { Iterator(client: client, params: params) }

    /// Goes through the pieces; where it goes before the end, the transfer ends.
    public struct Iterator: AsyncIteratorProtocol {
        let client: CofferClient
        let params: ItemGetParameters
        private var download: Download?
        private var byteCount: Int64 = 0
        private var hasEnded = false

        init(client: CofferClient, params: ItemGetParameters) {
            self.client = client
            self.params = params
        }

        /// Waits for the next piece.
        ///
        /// - Returns: The piece; `nil` behind the last one, when all of them have come as they were stored.
        /// - Throws: `itemNotFound`; `interactionNotAllowed` where the key is not there; `decode` where it is damaged.
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

        /// A keychain item comes with the answer, and a file came before it: then the answer says how long it was.
        private func lastPiece(_ reply: Reply) throws(CofferError) -> Secret? {
            let announced = try ItemGetResult(result: reply.json).byteCount
            let received = byteCount + Int64(reply.payload.count)
            guard announced == received else { throw .wrongCount(announced: announced, received) }
            return reply.payload.count > 0 ? reply.payload : nil
        }
    }
}

/// A transfer that ends when it is dropped.
private final class Download: Sendable {
    let stream: ContentStream

    init(_ stream: ContentStream) { self.stream = stream }

    deinit { stream.release() }
}
