import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Queries that scan every item take many turns, do not delay other clients, and are atomic nevertheless.
@Suite struct KeychainTurnsTests {
    private static let itemCount = 3000

    /// An unlocked vault with more items than fit into a turn.
    private func makeServer() throws -> TestServer {
        let server = try TestServer()
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
        return server
    }

    private func query(containing part: String) -> KeychainQuery {
        KeychainQuery(.genericPassword, contains: [.account: part])
    }

    @Test func `others are answered while an update looks at every item`() throws {
        let server = try makeServer()
        let (client, other) = (try server.connect(), try server.connect())
        let isDone = Shared(false)
        let update = Background {
            defer { isDone.value = true }
            return try client.update(query(containing: "e-29"), KeychainChange(attributes: [.comment: .text("seen")]))
        }
        var answerCount = 0
        while !isDone.value {
            _ = try other.status()
            answerCount += 1
        }
        #expect(try update.wait() == 111)
        #expect(answerCount >= 3)
        #expect(try other.find(KeychainQuery(.genericPassword, [.comment: .text("seen")])).page.items.count == 111)
    }

    @Test func `an update changes what its query means in the end, and counts that`() throws {
        let server = try makeServer()
        let (client, other) = (try server.connect(), try server.connect())
        let update = Background {
            try client.update(query(containing: "here"), KeychainChange(attributes: [.comment: .text("seen")]))
        }
        let last = KeychainQuery(.genericPassword, [.account: .text("here-\(Self.itemCount - 1)")])
        // Each item is found, and then removed from the query or deleted, until the update is complete.
        var number = 0
        while number < 500 {
            let comment = try other.find(last, returns: [.attributes]).page.items.first?.attributes?[.comment]
            if comment == .text("seen") { break }
            let item = KeychainQuery(.genericPassword, [.account: .text("here-\(number)")])
            if number.isMultiple(of: 2) {
                _ = try other.update(item, KeychainChange(attributes: [.account: .text("gone-\(number)")]))
            } else {
                _ = try other.deleteKeychainItems(item)
            }
            number += 1
        }
        let changedCount = try update.wait()
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
