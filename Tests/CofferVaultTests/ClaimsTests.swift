import CofferVault
import Testing

struct ClaimsTests {
    private var claims = Claims()

    @Test mutating func `who waits longest has a claim next, and the parties take turns`() {
        let taken = [(1, 1), (2, 1), (3, 1), (4, 2)].map { claims.take(.keys, for: $0.0, of: $0.1) }
        #expect(taken == [true, false, false, false])
        #expect(claims.waiting.sorted() == [2, 3, 4])
        let next = (0..<4).map { _ in claims.release(.keys) }
        #expect(next == [2, 4, 3, nil])
        #expect(!claims.isTaken(.keys))
    }

    @Test mutating func `who waits no longer is passed over`() {
        for request in 1...3 { _ = claims.take(.keys, for: request, of: 1) }
        claims.withdraw(2)
        let next = claims.release(.keys)
        #expect(next == 3)
    }

    @Test mutating func `what is kept does not go with its holder, and is given to the next by release`() {
        _ = claims.take(.keys, for: 1, of: 1)
        #expect(claims.held(by: 1) == [.keys])
        claims.keep(.keys)
        #expect(claims.held(by: 1).isEmpty)
        let isFree = claims.take(.keys, for: 2, of: 1)
        #expect(!isFree)
        let next = claims.release(.keys)
        #expect(next == 2)
        #expect(claims.held(by: 2) == [.keys])
    }
}
