import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import CofferVault
import CofferWire
import Foundation
import Testing

/// Many pending requests on one connection.
@Suite struct PipeliningTests {
    private static let passcode = Array(DaemonProcess.passcode.utf8)

    /// A server with a vault and a file that exceeds a pipe.
    private static func makeServer() throws -> (server: TestServer, client: BlockingClient, content: [UInt8]) {
        let server = try TestServer(graceSeconds: 0)
        let client = try server.connect()
        try client.makeVault()
        let content = pseudoRandomBytes(4 << 20)
        try client.put("big", content) { $0.protectionClass = ProtectionClass.none }
        return (server, client, content)
    }

    /// A connection whose first request reads the file into a pipe that is not read yet.
    private static func stuck(_ server: TestServer, _ pipe: TransferPipe) throws -> RawConnection {
        var raw = try RawConnection(server)
        try raw.send(.itemGet, ["name": "big"], passing: pipe.writing)
        pipe.closeWriting()
        _ = pipe.readByte()
        return raw
    }

    // MARK: Order

    @Test func `a short request overtakes a long one that it does not depend on`() throws {
        let (server, _, _) = try Self.makeServer()
        let pipe = try TransferPipe()
        var raw = try Self.stuck(server, pipe)
        try raw.send(.vaultStatus)
        try raw.send(.itemPut, ["name": "other"], payload: [1])
        try raw.send(.itemShow, ["name": "big"])
        var overtaking: Set<Int64> = []
        for _ in 0..<3 {
            let answer = try raw.answer()
            #expect(answer.refusal == nil)
            overtaking.insert(answer.id)
        }
        #expect(overtaking == [2, 3, 4])
        _ = pipe.drain()
        let last = try raw.answer()
        #expect(last == (1, nil))
    }

    private static let dependent: [(CofferWire.Method, JSONObject)] = [
        (.itemRemove, ["name": "big"]), (.itemMove, ["name": "big", "to": "a"]),
        (.itemMove, ["name": "other", "to": "big", "replace": true]), (.itemProtect, ["name": "big", "class": "none"]),
        (.fileRemove, ["name": "big"]), (.vaultLock, ["grace": 0]), (.contextEnd, [:]), (.slotList, [:]),
        (.keychainDelete, ["class": "genericPassword", "all": true]),
    ]

    @Test(arguments: dependent)
    func `a request that depends on a long one waits for it, and so does what depends on that`(
        method: CofferWire.Method,
        params: JSONObject
    ) throws {
        let (server, client, content) = try Self.makeServer()
        try client.put("other", [1])
        let pipe = try TransferPipe()
        var raw = try Self.stuck(server, pipe)
        try raw.send(method, params)
        try raw.send(.itemShow, ["name": "nobody"])
        try raw.send(.hello, ["protocol": 1])
        let free = try raw.answer()
        let isItemAlone = free.id == 3
        if isItemAlone {
            // Requests for other names do not wait for this change.
            #expect(free.refusal == .itemNotFound)
            let hello = try raw.answer()
            #expect(hello == (4, nil))
        } else {
            #expect(free == (4, nil))
        }
        let rest = pipe.drain()
        #expect(rest.count == content.count - 1, "it ended whole")
        let first = try raw.answer()
        #expect(first == (1, nil))
        let second = try raw.answer()
        #expect(second == (2, nil))
        if !isItemAlone {
            let third = try raw.answer()
            #expect(third == (3, .itemNotFound))
        }
    }

    @Test func `what is sent behind an unlock finds the vault unlocked, and behind a lock locked`() throws {
        let (server, client, _) = try Self.makeServer()
        try client.put("k", [1])
        _ = try client.lock(graceSeconds: 0)
        var raw = try RawConnection(server)
        try raw.send(.itemGet, ["name": "k"])
        try raw.send(.vaultUnlock, payload: Self.passcode)
        // No request whose answer has a payload: a lock withdraws such answers if they are not sent yet.
        try raw.send(.itemPut, ["name": "k"], payload: [2])
        try raw.send(.vaultLock, ["grace": 0])
        try raw.send(.itemGet, ["name": "k"])
        let expected: [ErrorCode?] = [.interactionNotAllowed, nil, nil, nil, .interactionNotAllowed]
        for (index, refusal) in expected.enumerated() {
            let answer = try raw.answer()
            #expect(answer == (Int64(index + 1), refusal))
        }
    }

    @Test func `what was shown for one use is for the one request behind it, however many are sent`() throws {
        let (server, _, _) = try Self.makeServer()
        var raw = try RawConnection(server)
        let query: JSONObject = ["class": "genericPassword", "attributes": ["account": "guarded"]]
        var guarded = query
        guarded.set("accessControl", ["devicePasscode"])
        try raw.send(.keychainAdd, guarded, payload: [1])
        try raw.send(.contextAuthenticate, payload: Self.passcode)
        for _ in 0..<3 { try raw.send(.keychainFind, query) }
        let expected: [ErrorCode?] = [nil, nil, nil, .interactionRequired, .interactionRequired]
        for (index, refusal) in expected.enumerated() {
            let answer = try raw.answer()
            #expect(answer == (Int64(index + 1), refusal))
        }
    }

    @Test func `what waits for nothing uses nothing up that was shown`() throws {
        let (server, client, content) = try Self.makeServer()
        var raw = try RawConnection(server)
        var guarded: JSONObject = ["class": "genericPassword", "attributes": ["account": "guarded"]]
        let query = guarded
        guarded.set("accessControl", ["devicePasscode"])
        try raw.send(.keychainAdd, guarded, payload: [1])
        try raw.send(.contextAuthenticate, payload: Self.passcode)
        try raw.send(.hello, ["protocol": 1])
        try raw.send(.vaultWatch)
        try raw.send(.requestCancel, ["request": 77])
        try raw.send(.keychainFind, query)
        var refusals: [Int64: ErrorCode] = [:]
        for _ in 1...6 {
            let answer = try raw.answer()
            refusals[answer.id] = answer.refusal
        }
        #expect(refusals == [:])
        // Besides a long request: a barrier delays all requests except these.
        let pipe = try TransferPipe()
        try raw.send(.contextAuthenticate, payload: Self.passcode)
        try raw.send(.itemGet, ["name": "big"], passing: pipe.writing)
        pipe.closeWriting()
        let first = pipe.readByte()
        try raw.send(.hello, ["protocol": 1])
        try raw.send(.itemShow, ["name": "big"])
        let shown = try raw.answer()
        #expect(shown == (7, nil))
        let free = try raw.answer()
        #expect(free == (9, nil))
        #expect(first + pipe.drain() == content)
        for id: Int64 in [8, 10] {
            let answer = try raw.answer()
            #expect(answer == (id, nil))
        }
        withExtendedLifetime(client) {}
    }

    /// Each step is a put, get, remove or move of one of five names, in either store, by descriptor or in the
    /// frame.
    @Test(arguments: 0..<12)
    func `whatever is sent at once comes out as if it had been sent one by one`(seed: UInt64) throws {
        let (server, client, _) = try Self.makeServer()
        var random = SeededGenerator(seed: seed)
        let names = ["a", "b", "d/a", "d/b", "d"]
        var model: [String: [UInt8]] = [:]
        var raw = try RawConnection(server)
        var expected: [Int64: ErrorCode?] = [:]
        for id in Int64(1)...24 {
            let name = names[Int.random(in: 0..<4, using: &random)]
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let content = pseudoRandomBytes(
                    [1, 2000, 100_000].randomElement(using: &random) ?? 1,
                    seed: seed &* 100 &+ UInt64(id)
                )
                let params: JSONObject = ["name": .string(name), "asFile": .bool(content.count > 1)]
                try raw.send(.itemPut, params, payload: content)
                model[name] = content
                expected[id] = .some(nil)
            case 2:
                try raw.send(.itemGet, ["name": .string(name)])
                expected[id] = .some(model[name] == nil ? .itemNotFound : nil)
            case 3:
                try raw.send(.itemRemove, ["name": .string(name)])
                expected[id] = .some(model.removeValue(forKey: name) == nil ? .itemNotFound : nil)
            default:
                let target = names[Int.random(in: 0..<4, using: &random)]
                try raw.send(.itemMove, ["name": .string(name), "to": .string(target), "replace": true])
                expected[id] = .some(model[name] == nil ? .itemNotFound : nil)
                if let content = model.removeValue(forKey: name) { model[target] = content }
            }
        }
        for _ in 1...24 {
            let answer = try raw.answer()
            #expect(expected[answer.id] == .some(answer.refusal), "request \(answer.id)")
        }
        for name in names { #expect((try? client.get(name)) == model[name], "\(name)") }
    }

    // MARK: Cancelling

    @Test func `a transfer that is cancelled ends, and leaves what was there`() throws {
        let (server, client, content) = try Self.makeServer()
        let pipe = try TransferPipe()
        var raw = try RawConnection(server)
        try raw.send(.itemPut, ["name": "big"], passing: pipe.reading)
        pipe.closeReading()
        pipe.write(pseudoRandomBytes(170_000))
        try raw.send(.requestCancel, ["request": 1])
        var answers = [try raw.answer(), try raw.answer()]
        answers.sort { $0.id < $1.id }
        #expect(answers[0] == (1, .userCanceled))
        #expect(answers[1] == (2, nil))
        let back = try TransferPipe()
        let reader = try Self.stuck(server, back)
        #expect([content[0]] + back.drain() == content)
        withExtendedLifetime(client) {}
        _ = consume reader
    }

    @Test func `a request that waits and is cancelled is answered at once, and never begins`() throws {
        let (server, client, _) = try Self.makeServer()
        let pipe = try TransferPipe()
        var raw = try Self.stuck(server, pipe)
        try raw.send(.itemRemove, ["name": "big"])
        try raw.send(.requestCancel, ["request": 2])
        let cancelled = try raw.answer()
        #expect(cancelled == (2, .userCanceled))
        let done = try raw.answer()
        #expect(done == (3, nil))
        _ = pipe.drain()
        let first = try raw.answer()
        #expect(first == (1, nil))
        #expect(try client.show(try ItemName("big")).byteCount == 4 << 20)
    }

    @Test func `cancelling what is answered, or was never asked, changes nothing`() throws {
        let (server, _, _) = try Self.makeServer()
        var raw = try RawConnection(server)
        try raw.send(.itemPut, ["name": "k"], payload: [1])
        let put = try raw.answer()
        #expect(put == (1, nil))
        for id: JSONValue in [1, 2, 77, "a"] {
            try raw.send(.requestCancel, ["request": id])
            let refused = try raw.refusal()
            #expect(refused == nil)
        }
        try raw.send(.itemGet, ["name": "k"])
        let refused = try raw.refusal()
        #expect(refused == nil)
    }

    @Test func `who waits for a writer, or removes a tree, can be cancelled`() throws {
        let (server, client, _) = try Self.makeServer()
        let writer = try client.openFile(try ItemName("f"), for: .write, .create)
        var raw = try RawConnection(server)
        try raw.send(.fileOpen, ["name": "f", "access": "write", "wait": true])
        try raw.send(.requestCancel, ["request": 1])
        var answers = [try raw.answer(), try raw.answer()]
        answers.sort { $0.id < $1.id }
        #expect(answers[0] == (1, .userCanceled))
        try writer.close()
        let other = try client.openFile(try ItemName("f"), for: .write)
        withExtendedLifetime(other) {}
    }

    // MARK: Bounds

    @Test func `no more is read than a connection may have under way, and all is answered in the end`() throws {
        let (server, client, _) = try Self.makeServer()
        let pipe = try TransferPipe()
        var raw = try Self.stuck(server, pipe)
        let count = 3 * Limits.requestsInFlight
        for _ in 0..<count { try raw.send(.itemRemove, ["name": "big"]) }
        // At the bound, even independent requests are not read.
        try raw.send(.hello, ["protocol": 1])
        #expect(try client.status().fileCount == 1)
        _ = pipe.drain()
        let first = try raw.answer()
        #expect(first == (1, nil))
        var answers = try (0...count).map { _ in try raw.answer() }
        let hello = try #require(answers.firstIndex { $0 == (Int64(count + 2), nil) })
        #expect(hello >= count - Limits.requestsInFlight, "it waits for nothing, and is read all the same in its order")
        answers.remove(at: hello)
        for (number, answer) in answers.enumerated() {
            #expect(answer == (Int64(number + 2), number == 0 ? nil : .itemNotFound))
        }
    }

    @Test func `so many transfers of a connection run at a time, and more wait for one to end`() throws {
        let (server, _, content) = try Self.makeServer()
        var raw = try RawConnection(server)
        var pipes: [TransferPipe] = []
        for _ in 0...Limits.transfersPerConnection {
            let pipe = try TransferPipe()
            try raw.send(.itemGet, ["name": "big"], passing: pipe.writing)
            pipe.closeWriting()
            pipes.append(pipe)
        }
        try raw.send(.itemShow, ["name": "big"])
        let free = try raw.answer()
        #expect(free.id == Int64(pipes.count + 1))
        var waiting = pollfd(fd: pipes[pipes.count - 1].reading, events: Int16(POLLIN), revents: 0)
        let isReady = poll(&waiting, 1, 0)
        #expect(isReady == 0, "the last one has not begun")
        for pipe in pipes { #expect(pipe.drain() == content) }
        for _ in pipes {
            let answer = try raw.answer()
            #expect(answer.refusal == nil)
        }
    }

    // MARK: Ends

    @Test func `a client that hangs up takes back all that it has asked for`() throws {
        let (server, client, _) = try Self.makeServer()
        let pipe = try TransferPipe()
        do {
            var raw = try Self.stuck(server, pipe)
            try raw.send(.fileOpen, ["name": "f", "access": "write", "create": true])
            try raw.send(.itemRemove, ["name": "big"])
            let opened = try raw.answer()
            #expect(opened == (2, nil))
        }
        _ = pipe.drain()
        // The handle was closed, so another client may write.
        #expect(becomesTrue { (try? client.openFile(try ItemName("f"), for: .write)) != nil })
        #expect(try client.show(try ItemName("big")).byteCount == 4 << 20)
    }

    @Test func `a client that only ends its own direction is answered still`() throws {
        let (server, client, content) = try Self.makeServer()
        let pipe = try TransferPipe()
        var raw = try Self.stuck(server, pipe)
        try raw.send(.itemRemove, ["name": "big"])
        try raw.send(.itemPut, ["name": "k"], payload: [1])
        shutdown(raw.socket.number, Int32(SHUT_WR))
        let put = try raw.answer()
        #expect(put == (3, nil))
        #expect(pipe.drain().count == content.count - 1)
        let get = try raw.answer()
        #expect(get == (1, nil))
        let removed = try raw.answer()
        #expect(removed == (2, nil))
        let end = try raw.next()
        #expect(end == nil)
        #expect(try client.get("k") == [1])
    }
}

/// The dependencies of a single request.
@Suite struct RequestScopeTests {
    private static let scopes: [RequestScope] =
        [.free, .barrier]
        + [.catalog, .keychain, .names(["a"]), .names(["a/b", "c"]), .names(["d"]), .handle(1), .handle(2)].flatMap {
            [.reading($0), .changing($0)]
        }

    @Test func `waiting is mutual: it is the order that decides who waits`() {
        for one in Self.scopes {
            for other in Self.scopes {
                #expect(RequestScope.mustWait(one, for: other) == RequestScope.mustWait(other, for: one))
            }
        }
    }

    @Test func `nothing waits for what is free, and all for a barrier`() {
        for scope in Self.scopes {
            #expect(!RequestScope.mustWait(scope, for: .free))
            #expect(RequestScope.mustWait(scope, for: .barrier) == (scope != .free))
        }
    }

    @Test(arguments: [
        (["a"], ["a"], true), (["a"], ["b"], false), (["a"], ["ab"], false), (["a"], ["a/b"], true),
        (["a/b/c"], ["a"], true), (["a", "b"], ["c", "b"], true), (["caf\u{e9}"], ["cafe\u{301}"], false),
        (["cafe\u{301}/x"], ["caf\u{e9}"], false), (["a/\u{301}x"], ["a"], true),
    ])
    func `names touch where they are the same, or one lies in the other`(some: [String], others: [String], touch: Bool)
    {
        let (one, other) = (RequestScope.changing(.names(some)), RequestScope.reading(.names(others)))
        #expect(RequestScope.mustWait(one, for: other) == touch)
    }

    @Test func `handles wait for themselves and for names, and not for one another or the keychain`() {
        let write = RequestScope.changing(.handle(1))
        #expect(RequestScope.mustWait(write, for: .reading(.handle(1))))
        #expect(!RequestScope.mustWait(write, for: .changing(.handle(2))))
        #expect(!RequestScope.mustWait(write, for: .changing(.keychain)))
        #expect(RequestScope.mustWait(write, for: .reading(.names(["a"]))))
    }

    @Test func `those that only look wait for no other that only looks`() {
        let subjects: [RequestScope.Subject] = [.catalog, .keychain, .names(["a"]), .handle(1)]
        for one in subjects {
            for other in subjects { #expect(!RequestScope.mustWait(.reading(one), for: .reading(other))) }
        }
    }

    @Test(arguments: CofferWire.Method.allCases)
    func `a request whose parameters make no sense is as careful as can be`(method: CofferWire.Method) {
        let params: [JSONObject] = [[:], ["name": 1, "handle": "a", "to": .null]]
        for params in params {
            switch RequestScope(of: method, params) {
            case .free, .barrier, .reading(.catalog), .changing(.catalog), .reading(.keychain), .changing(.keychain):
                break
            default: Issue.record("\(params)")
            }
        }
    }
}
