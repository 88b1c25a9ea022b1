import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Queries that scan every item take many turns, do not delay other clients, and are atomic nevertheless.
@Suite struct KeychainTurnsTests {
    private static let itemCount = 3000

    /// An unlocked vault with more items than fit into a turn: on any machine, a turn ends after a few looks at the clock.
    private func makeServer() throws -> TestServer {
        let clock = ManualClock()
        let server = try TestServer(clock: clock.clock)
        let client = try server.connect()
        try client.makeVault()
        let filling = try (0..<30).map { worker in
            let client = try server.connect()
            return Background {
                for number in stride(from: worker, to: Self.itemCount, by: 30) {
                    try client.add(.genericPassword, [.service: .text("mail"), .account: .text("here-\(number)")])
                }
            }
        }
        for worker in filling { try worker.wait() }
        clock.tick(by: 0.001)
        return server
    }

    private func query(containing part: String) -> KeychainQuery {
        KeychainQuery(.genericPassword, contains: [.account: part])
    }

    /// The number of items that an update has changed.
    private func changedCount(_ updating: inout RawConnection) throws -> Int64 {
        guard case .response(_, let outcome)? = try updating.next() else { throw POSIXError(.ECONNRESET) }
        return try #require(try outcome.get().objectValue?["count"]?.integerValue)
    }

    @Test func `others are answered while an update looks at every item`() throws {
        let server = try makeServer()
        let other = try server.connect()
        var updating = try RawConnection(server)
        _ = try updating.newsUntilAnswer()
        let change = KeychainChange(attributes: [.comment: .text("seen")])
        let params = KeychainUpdateParameters(query(containing: "e-29"), change).json
        // Where this thread stands still, the update may be done before it asks again.
        let areAnswered = try settles {
            try updating.send(.keychainUpdate, params)
            var answerCount = 0
            while !hasArrival(updating) {
                _ = try other.status()
                answerCount += 1
            }
            let count = try changedCount(&updating)
            #expect(count == 111)
            // If it took one turn, there would be an answer before it and one behind it.
            return answerCount >= 5
        }
        #expect(areAnswered)
        #expect(try other.find(KeychainQuery(.genericPassword, [.comment: .text("seen")])).page.items.count == 111)
    }

    @Test func `an update changes what its query means in the end, and counts that`() throws {
        let server = try makeServer()
        let other = try server.connect()
        var updating = try RawConnection(server)
        var deleting = try RawConnection(server)
        for news in [try updating.newsUntilAnswer(), try deleting.newsUntilAnswer()] { #expect(news == []) }
        func item(_ number: Int) -> KeychainQuery {
            KeychainQuery(.genericPassword, [.account: .text("here-\(number)")])
        }
        let change = KeychainChange(attributes: [.comment: .text("seen")])
        // Both are there when the update begins: the first item is found, and then deleted.
        try server.whileStill {
            try updating.send(.keychainUpdate, KeychainUpdateParameters(query(containing: "here"), change).json)
            try deleting.send(.keychainDelete, KeychainDeleteParameters(item(0)).json)
        }
        let refusal = try deleting.refusal()
        #expect(refusal == nil)
        let last = item(Self.itemCount - 1)
        // So are others, or they are removed from the query, until the update is complete.
        var number = 1
        while number < 500 {
            let comment = try other.find(last, returns: [.attributes]).page.items.first?.attributes?[.comment]
            if comment == .text("seen") { break }
            if number.isMultiple(of: 2) {
                _ = try other.update(item(number), KeychainChange(attributes: [.account: .text("gone-\(number)")]))
            } else {
                _ = try other.deleteKeychainItems(item(number))
            }
            number += 1
        }
        let changedCount = try changedCount(&updating)
        #expect(changedCount < Self.itemCount)
        var (seenCount, unseenCount): (Int64, Int64) = (0, 0)
        var cursor: String?
        repeat {
            let page = try other.find(query(containing: "e"), returns: [.attributes], cursor: cursor).page
            for item in page.items {
                let isHere = item.attributes?[.account].map { "\($0)".contains("here") } ?? false
                let isSeen = item.attributes?[.comment] == .text("seen")
                if isSeen { seenCount += 1 }
                if isHere && !isSeen { unseenCount += 1 }
            }
            cursor = page.cursor
        } while cursor != nil
        #expect(unseenCount == 0)
        // The item that was deleted right after the update is missing.
        #expect(seenCount <= changedCount && seenCount >= changedCount - 1)
    }

    @Test func `a page that took several turns gives what is there in the end`() throws {
        let server = try makeServer()
        let (client, other) = (try server.connect(), try server.connect())
        for round in 0..<8 {
            let isDone = Shared(false)
            let search = Background {
                defer { isDone.value = true }
                // Three items, of which the last is far down the scan.
                return try client.find(query(containing: round.isMultiple(of: 2) ? "e-2999" : "here-1\(round)"))
            }
            var version = 0
            while !isDone.value {
                _ = try other.update(
                    KeychainQuery(.genericPassword, [.account: .text("here-1\(round)")]),
                    KeychainChange(),
                    Array("version \(version)".utf8)
                )
                version += 1
            }
            let found = try search.wait()
            #expect(found.page.items.count == found.secrets.count)
            #expect(found.page.items.count == (round.isMultiple(of: 2) ? 1 : 111))
            #expect(found.page.damagedCount == 0)
            for secret in found.secrets {
                let text = String(decoding: secret, as: UTF8.self)
                #expect(text == "secret" || text.hasPrefix("version "))
            }
        }
    }

    @Test func `a search that a lock overtakes says so, and gives nothing`() throws {
        let server = try makeServer()
        let (client, other) = (try server.connect(), try server.connect())
        let search = Background { try client.find(query(containing: "e-2999")) }
        _ = try other.lock(graceSeconds: 0)
        do {
            // Either the search came first.
            #expect(try search.wait().secrets == [Array("secret".utf8)])
        } catch let error as CofferError {
            #expect(error.code == .interactionNotAllowed)
        }
        #expect(throws: CofferError.self) { try client.find(query(containing: "e-2999")) }
    }

    @Test func `sorting goes on over turns, and keeps its order`() throws {
        let server = try makeServer()
        let client = try server.connect()
        let params = KeychainFindParameters(
            query(containing: "e-29"),
            limit: .all,
            order: .creationDateDescending,
            returns: [.attributes]
        )
        let page = try client.findKeychainItems(params).page
        let dates = page.items.compactMap { $0.attributes?[.creationDate].map { "\($0)" } }
        #expect(dates.count == 111)
        #expect(dates == dates.sorted(by: >))
    }
}
