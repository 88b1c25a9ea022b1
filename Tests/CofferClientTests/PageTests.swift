import CofferClient
import CofferCore
import CofferWire
import Testing

/// Listings of several pages.
@Suite struct PageTests {
    private static let pages = [
        answer(1, .object(ItemPage(items: [], next: "p", damagedCount: 1).json)),
        answer(2, .object(ItemPage(items: [], next: nil, damagedCount: 2).json)),
    ]
    private static let requests = request(1, "item.list") + request(2, "item.list", ["after": "p"])

    @Test func `the next page is asked for before one is taken`() throws {
        let daemon = try ScriptedDaemon(Self.pages)
        var asked: [UInt8] = []
        var damagedCounts: [Int] = []
        try daemon.client.takePages({ ItemListParameters(after: $0) }) { (page: ItemPage) throws(CofferError) in
            if damagedCounts.isEmpty { asked = daemon.requests }
            damagedCounts.append(page.damagedCount)
        }
        #expect(damagedCounts == [1, 2])
        #expect(asked == Self.requests)
    }

    @Test func `a page that is not wanted any more is dropped when it comes`() throws {
        let status = ItemPage(items: [], next: nil, damagedCount: 3)
        let daemon = try ScriptedDaemon(Self.pages + [answer(3, .object(status.json))])
        let enough = CofferError(.userCanceled, "that is enough")
        #expect(throws: enough) {
            try daemon.client.takePages({ ItemListParameters(after: $0) }) { (_: ItemPage) throws(CofferError) in
                throw enough
            }
        }
        #expect(try daemon.client.call(ItemListParameters()).value == status)
    }
}
