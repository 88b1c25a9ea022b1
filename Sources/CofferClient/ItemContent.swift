public import CofferCore
internal import CofferSystem
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
                if let piece = try await begun().next() { return piece }
            } catch {
                end()
                throw error
            }
            end()
            return nil
        }

        private nonisolated(nonsending) mutating func begun() async throws(CofferError) -> Download {
            if let download { return download }
            let new = Download(try await client.beginStream(.itemGet, params), of: client)
            download = new
            return new
        }

        private mutating func end() {
            hasEnded = true
            download = nil
        }
    }
}

/// A transfer that ends when nobody wants more of it.
private final class Download: Sendable {
    private let stream: ContentStream
    private let client: CofferClient

    init(_ stream: ContentStream, of client: CofferClient) {
        self.stream = stream
        self.client = client
    }

    deinit {
        client.loop.post { [client, stream] in client.assumeIsolated { $0.release(stream) } }
    }

    func next() async throws(CofferError) -> Secret? { try await client.nextPiece(of: stream) }
}
