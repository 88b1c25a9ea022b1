import CofferCore
import CofferHandlers
import CofferFiles
import CofferTestSupport
import CofferVault
import CofferWire
import Testing

/// Handlers are functions: they are tested without a daemon, step by step.
@Suite struct HandlerTests {
    private let stepper: Stepper

    init() throws { stepper = try Stepper() }

    private static let content = pseudoRandomBytes(150_000)

    @Test func `a small item is stored at once, stays with the commit, and is fetched`() throws {
        let put = try stepper.begin(.itemPut, ["name": "k"], [1, 2, 3])
        #expect(put.wait == nil)
        #expect(put.failure == nil)
        #expect(stepper.vault.openCatalog?.hasChanges == true)
        try stepper.commit()
        #expect(stepper.vault.openCatalog?.hasChanges == false)
        let get = try stepper.begin(.itemGet, ["name": "k"])
        #expect(get.wait == nil)
        #expect(get.payload == [1, 2, 3])
        #expect(stepper.vault.openCatalog?.hasChanges == false, "who reads changes nothing")
    }

    @Test func `as many listings as the limit says are in flight, and the next one waits for one of them`() throws {
        for name in ["a", "b", "c"] { _ = try stepper.perform(.itemPut, ["name": .string(name)], [1]) }
        func listing() throws -> Begun {
            let begun = try stepper.begin(.itemList)
            begun.resume()
            return begun
        }
        let first = try (0..<Limits.slicedWorks).map { _ in try listing() }
        #expect(first.allSatisfy { $0.wait == .turn })
        let next = try listing()
        let isWaiting = if case .claim(.slicedWork) = next.wait { true } else { false }
        #expect(isWaiting)
        for listing in first { listing.finish() }
        next.finish()
        #expect(next.result?["items"]?.arrayValue?.count == 3)
    }

    @Test func `a hello without a group keeps the one that the connection has chosen before`() throws {
        func hello(_ choice: JSONObject = [:]) throws -> String? {
            var params: JSONObject = ["protocol": .integer(Int64(Version.protocolNumber))]
            for (key, value) in choice.members { params.set(key, value) }
            return try stepper.perform(.hello, params).result?["group"]?.stringValue
        }
        #expect(try hello() == "default")
        #expect(try hello(["group": "work"]) == "work")
        let put = try stepper.perform(.itemPut, ["name": "k"], [1])
        #expect(put.failure == nil)
        for choice in [[:], ["deferSyncs": true]] as [JSONObject] {
            #expect(try hello(choice) == "work")
            let get = try stepper.perform(.itemGet, ["name": "k"])
            #expect(get.payload == [1])
        }
        #expect(try hello(["group": "default"]) == "default")
        let elsewhere = try stepper.perform(.itemGet, ["name": "k"])
        #expect(elsewhere.failure?.code == .itemNotFound)
    }

    @Test func `the content of a file is written by a thread, and is there when that is done`() throws {
        let put = try stepper.begin(.itemPut, ["name": "f", "asFile": true], Self.content)
        #expect(put.wait == .work)
        #expect(stepper.vault.openCatalog?.hasChanges == false)
        let early = try stepper.perform(.itemGet, ["name": "f"])
        #expect(early.failure?.code == .itemNotFound)
        put.resume()
        #expect(put.wait == nil)
        #expect(put.failure == nil)
        try stepper.commit()
        let get = try stepper.perform(.itemGet, ["name": "f"])
        let isWhole = get.payload == Self.content
        #expect(isWhole)
    }

    @Test func `a request that is cancelled while a thread works for it leaves nothing`() throws {
        let put = try stepper.begin(.itemPut, ["name": "f", "asFile": true], Self.content)
        #expect(put.wait == .work)
        put.call.cancel()
        put.finish()
        #expect(put.failure?.code == .userCanceled)
        #expect(stepper.vault.openCatalog?.hasChanges == false)
        let get = try stepper.perform(.itemGet, ["name": "f"])
        #expect(get.failure?.code == .itemNotFound)
    }

    @Test func `a lock between two steps ends what wants the key, and nothing else`() throws {
        let puts = try [ProtectionClass.complete, .completeUntilFirstUserAuthentication].map { protectionClass in
            try stepper.begin(
                .itemPut,
                [
                    "name": .string(protectionClass.rawValue), "asFile": true,
                    "protection": .string(protectionClass.rawValue),
                ],
                Self.content
            )
        }
        #expect(puts.map(\.wait) == [.work, .work])
        stepper.lock()
        for put in puts { put.finish() }
        #expect(puts.map { $0.failure?.code } == [.interactionNotAllowed, nil])
        try stepper.commit()
        let list = try stepper.perform(.itemList)
        #expect(list.result?["items"]?.arrayValue?.count == 1)
    }
}
