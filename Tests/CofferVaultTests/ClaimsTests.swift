import CofferVault
import Testing

struct ClaimsTests {
    @Test func `who waits longest has a claim next, and the parties take turns`() {
        var claims = Claims()
        #expect(claims.take(.keys, for: 1, of: 1))
        #expect(!claims.take(.keys, for: 2, of: 1))
        #expect(!claims.take(.keys, for: 3, of: 1))
        #expect(!claims.take(.keys, for: 4, of: 2))
        #expect(claims.release(.keys) == 2)
        #expect(claims.release(.keys) == 4)
        #expect(claims.release(.keys) == 3)
        #expect(claims.release(.keys) == nil)
        #expect(!claims.isTaken(.keys))
    }

    @Test func `who waits no longer is passed over, and what is kept is nobody's to give back by ending`() {
        var claims = Claims()
        #expect(claims.take(.keys, for: 1, of: 1))
        #expect(!claims.take(.keys, for: 2, of: 1))
        #expect(!claims.take(.keys, for: 3, of: 1))
        claims.withdraw(2)
        #expect(claims.held(by: 1) == [.keys])
        claims.keep(.keys)
        #expect(claims.held(by: 1).isEmpty)
        #expect(claims.isTaken(.keys))
        #expect(claims.release(.keys) == 3)
    }
}
