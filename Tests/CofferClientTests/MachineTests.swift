import CofferClient
import CofferCore
import CofferSystem
import CofferWire
import Testing

/// Three attempts, with delays on the clock of the driver.
private let patient = ReconnectPolicy(attempts: 3, firstDelay: .seconds(1), maximumDelay: .seconds(3))

private func report(_ id: Int64, _ done: Int64) -> [UInt8] {
    wireFrame(Response.notificationBytes(method: "progress", params: ["id": .integer(id), "done": .integer(done)]))
}

private func cancellations(_ requests: [Request]) -> [JSONValue?] {
    requests.filter { $0.method == "request.cancel" }.map { $0.params["request"] }
}

@Suite struct `A client's machine` {
    private let stream: [UInt8] =
        report(2, 5) + answer(2, lockedStatus, [1, 2, 3]) + news("protectedDataDidBecomeAvailable")
        + wireFrame(Response.failureBytes(id: .integer(1), error: CofferError(.itemNotFound, "none")))
        + news("newsOfALaterVersion")

    @Test func `gives each call its answer, wherever the bytes are cut`() throws {
        let expected = [
            "2 at 5", "2 answered, 3", "event protectedDataDidBecomeAvailable", "1 refused, itemNotFound",
        ]
        for cut in 0...stream.count {
            let driver = MachineDriver()
            try driver.submit(1, changes: true)
            try driver.submit(2)
            driver.flush()
            driver.hear(Array(stream[..<cut]))
            driver.hear(Array(stream[cut...]))
            #expect(driver.effects() == expected, "cut at \(cut)")
            #expect(driver.isConnected)
        }
    }

    @Test func `sends the same bytes, however few the socket takes at once`() throws {
        let payload = try Secret((0..<100).map { UInt8($0) })
        var outputs: Set<[UInt8]> = []
        for count in [1, 7, 8, 9, 50, Int.max] {
            let driver = MachineDriver()
            for number in 1...3 {
                let params = ItemPutParameters(
                    name: try ItemName("a"),
                    wishes: PlacementOptions(),
                    wantsProgress: false
                )
                driver.submit(try Call(Int64(number), params, payload: payload))
            }
            while driver.hasOutput { driver.flush(count) }
            outputs.insert(driver.sent)
            #expect(try driver.requests().map(\.id) == [.integer(1), .integer(2), .integer(3)])
        }
        #expect(outputs.count == 1)
    }

    @Test func `passes a descriptor with the first byte of its frame only, and drops it when the frame has gone`()
        throws
    {
        let driver = MachineDriver()
        weak var passed: PassedDescriptor?
        do {
            let descriptor = PassedDescriptor(borrowing: 7)
            passed = descriptor
            let params = ItemPutParameters(name: try ItemName("a"), wishes: PlacementOptions(), wantsProgress: false)
            driver.submit(try Call(1, params, descriptor: descriptor))
        }
        #expect(passed != nil)
        while driver.hasOutput { driver.flush(5) }
        #expect(driver.descriptors == [7])
        #expect(passed == nil)
    }

    @Test(
        arguments: [
            Array(repeating: 0xFF, count: 16), [0, 0, 0, 0, 0, 0, 0, 0], wireFrame(Array("{".utf8)),
            wireFrame(Array("[]".utf8)), wireFrame(Array(#"{"jsonrpc":"2.0","id":1}"#.utf8)),
            wireFrame(Array(#"{"jsonrpc":"2.0","id":null,"result":{}}"#.utf8)), answer(99, lockedStatus),
            answer(-1, lockedStatus), answer(0, lockedStatus),
            wireFrame(Response.successBytes(id: .string("1"), result: lockedStatus)),
        ]
    )
    func `ends the connection of a daemon that breaks the protocol, and hears nothing behind it`(bytes: [UInt8]) throws
    {
        let driver = MachineDriver(patient)
        try driver.submit(1)
        driver.flush()
        driver.hear(bytes + answer(1, lockedStatus))
        #expect(driver.effects() == ["1 failed, protocolViolation", "lost, protocolViolation"])
        #expect(!driver.isConnected)
    }

    @Test func `takes no second answer to a call`() throws {
        let driver = MachineDriver()
        try driver.submit(1)
        driver.flush()
        driver.hear(answer(1, lockedStatus) + answer(1, lockedStatus))
        #expect(driver.effects() == ["1 answered, 0", "lost, protocolViolation"])
    }

    @Test func `refuses a payload that no frame may hold`() throws {
        let params = ItemPutParameters(name: try ItemName("a"), wishes: PlacementOptions(), wantsProgress: false)
        for (count, isTaken) in [(Limits.framePayloadBytes, true), (Limits.framePayloadBytes + 1, false)] {
            let payload = try Secret([UInt8](repeating: 7, count: count))
            let call = try? Call(1, params, payload: payload)
            #expect((call != nil) == isTaken)
        }
    }

    @Test func `ends every call when it is closed, and takes no other`() throws {
        let driver = MachineDriver(patient)
        try driver.submit(1)
        driver.flush()
        try driver.submit(2, changes: true)
        driver.close()
        try driver.submit(3)
        #expect(
            driver.effects() == [
                "1 failed, notAvailable", "2 failed, notAvailable", "lost, closed", "3 failed, notAvailable",
            ]
        )
        #expect(!driver.wantsConnection && driver.delay == nil)
    }
}

@Suite struct `A machine whose connection breaks` {
    /// The stage of a call.
    enum Stage: CaseIterable {
        case unsent, begun, sent
    }

    private func driver(
        _ policy: ReconnectPolicy,
        _ stage: Stage,
        changes: Bool,
        tells: Bool = true
    ) throws -> MachineDriver {
        let driver = MachineDriver(policy, tellsUnknownOutcomes: tells)
        try driver.submit(1, changes: changes)
        driver.flush(stage == .unsent ? 0 : stage == .begun ? 9 : .max)
        driver.breakOff()
        return driver
    }

    @Test(arguments: Stage.allCases, [false, true])
    func `sends again what has not changed anything`(stage: Stage, changes: Bool) throws {
        let driver = try driver(patient, stage, changes: changes)
        let isUnknown = stage == .sent && changes
        #expect(driver.effects() == (isUnknown ? ["1 failed, outcomeUnknown"] : []) + ["lost, notAvailable"])
        driver.pass(.seconds(1))
        #expect(driver.wantsConnection == !isUnknown)
        driver.connect()
        driver.flush()
        #expect(try driver.requests().map(\.method) == (isUnknown ? [] : [changes ? "item.remove" : "vault.status"]))
    }

    @Test(arguments: Stage.allCases, [false, true])
    func `sends nothing again where the policy says so`(stage: Stage, changes: Bool) throws {
        let driver = try driver(.never, stage, changes: changes)
        let code = stage == .sent && changes ? "outcomeUnknown" : "notAvailable"
        #expect(driver.effects() == ["1 failed, \(code)", "lost, notAvailable"])
        #expect(!driver.wantsConnection)
    }

    @Test func `tells what broke it where unknown outcomes are not told`() throws {
        let driver = try driver(.never, .sent, changes: true, tells: false)
        #expect(driver.effects() == ["1 failed, notAvailable", "lost, notAvailable"])
    }

    @Test func `waits longer before each attempt, and gives up behind the last`() throws {
        let driver = try driver(patient, .sent, changes: false)
        for seconds in [1, 2, 3] {
            #expect(driver.delay == .seconds(seconds))
            driver.pass(.milliseconds(seconds * 1000 - 1))
            #expect(!driver.wantsConnection)
            driver.pass(.milliseconds(1))
            #expect(driver.wantsConnection)
            driver.couldNotConnect()
        }
        #expect(driver.effects() == ["lost, notAvailable", "1 failed, notAvailable"])
        #expect(driver.delay == nil)
    }

    @Test func `tries no call on more connections than the policy allows`() throws {
        let driver = MachineDriver(patient)
        try driver.submit(1)
        var connectionCount = 1
        while connectionCount < 10 {
            driver.flush()
            driver.breakOff()
            driver.pass(.seconds(5))
            if !driver.wantsConnection { break }
            driver.connect()
            connectionCount += 1
        }
        #expect(connectionCount == 4)
    }

    @Test func `ends what belongs to the connection, and refuses it on the next one`() throws {
        let driver = MachineDriver(patient)
        try driver.submit(1, epoch: 1)
        driver.flush()
        driver.breakOff()
        try driver.submit(2, epoch: 1)
        driver.connect()
        try driver.submit(3, epoch: 1)
        try driver.submit(4, epoch: 2)
        #expect(
            driver.effects() == [
                "1 failed, notAvailable", "lost, notAvailable", "2 failed, notAvailable", "3 failed, notAvailable",
            ]
        )
        #expect(driver.hasOutput)
    }

    @Test(arguments: [false, true])
    func `gives the daemon's reason where it is turned away, and knows that nothing was carried out`(
        hasHeard: Bool
    ) throws {
        let driver = MachineDriver(patient)
        if hasHeard {
            try driver.submit(1)
            driver.flush()
            driver.hear(answer(1, lockedStatus))
            _ = driver.effects()
        }
        try driver.submit(2, changes: true)
        driver.flush()
        driver.hear(refusal(CofferError(.missingEntitlement, "not you")))
        #expect(
            driver.effects() == [
                "2 failed, \(hasHeard ? "outcomeUnknown" : "missingEntitlement")", "lost, missingEntitlement",
            ]
        )
    }
}

@Suite struct `A machine's cancelling` {
    @Test func `ends what was not sent, and does not send it`() throws {
        let driver = MachineDriver()
        try driver.submit(1, changes: true)
        driver.cancel(1)
        driver.flush()
        #expect(driver.effects() == ["1 failed, userCanceled"])
        #expect(driver.sent.isEmpty)
    }

    @Test(arguments: [false, true])
    func `asks the daemon once about what was sent, and lets it say what came of a change`(changes: Bool) throws {
        let driver = MachineDriver()
        try driver.submit(1, changes: changes)
        driver.flush()
        driver.cancel(1)
        driver.cancel(1)
        driver.flush()
        #expect(try cancellations(driver.requests()) == [.integer(1)])
        #expect(driver.effects() == (changes ? [] : ["1 failed, userCanceled"]))
        driver.hear(answer(-1, [:]) + answer(1, [:]))
        #expect(driver.effects() == (changes ? ["1 answered, 0"] : []))
        #expect(driver.isConnected && driver.delay == nil)
    }

    @Test func `sends to its end what has begun to go out, then asks, then goes on`() throws {
        let driver = MachineDriver()
        try driver.submit(1, changes: true)
        driver.flush(9)
        try driver.submit(2)
        driver.cancel(1)
        driver.flush()
        #expect(try driver.requests().map(\.method) == ["item.remove", "request.cancel", "vault.status"])
    }

    @Test(arguments: [false, true])
    func `breaks the connection of a daemon that does not answer in time`(changes: Bool) throws {
        let driver = MachineDriver()
        try driver.submit(1, changes: changes)
        driver.flush()
        driver.cancel(1)
        _ = driver.effects()
        #expect(driver.delay == Limits.cancelPatience)
        driver.pass(Limits.cancelPatience - .nanoseconds(1))
        #expect(driver.isConnected)
        driver.pass(.nanoseconds(1))
        #expect(driver.effects() == (changes ? ["1 failed, outcomeUnknown"] : []) + ["lost, notAvailable"])
    }

    @Test func `gets through to a daemon that has as many requests as it takes`() throws {
        let driver = MachineDriver()
        for number in 1...Int64(Limits.requestsInFlight + 5) { try driver.submit(number) }
        driver.flush()
        #expect(try driver.requests().count == Limits.requestsInFlight - 1)
        driver.cancel(1)
        driver.flush()
        #expect(try cancellations(driver.requests()) == [.integer(1)])
        driver.hear(answer(2, lockedStatus) + answer(3, lockedStatus))
        driver.flush()
        #expect(try driver.requests().count == 2)
    }
}

@Suite struct `What a machine has under way` {
    private func put(_ number: Int64, _ count: Int = 0, passing descriptor: Int32? = nil) throws -> Call {
        let params = ItemPutParameters(name: try ItemName("a"), wishes: PlacementOptions(), wantsProgress: false)
        let payload = count > 0 ? try Secret([UInt8](repeating: 7, count: count)) : nil
        return try Call(
            number,
            params,
            payload: payload,
            descriptor: descriptor.map { PassedDescriptor(borrowing: $0) }
        )
    }

    @Test func `has no more bytes than the daemon takes, and one request in any case`() throws {
        let driver = MachineDriver()
        for number in 1...40 { driver.submit(try put(Int64(number), Limits.framePayloadBytes)) }
        driver.flush()
        #expect(driver.sent.count > Limits.framePayloadBytes && driver.sent.count <= Limits.requestBytes)
    }

    @Test func `leaves half of the places of transfers to those that go the other way`() throws {
        let driver = MachineDriver()
        let each = Limits.transfersPerConnection
        for number in 1...each { driver.submit(try put(Int64(number), passing: 5)) }
        for number in 1...each {
            let params = ItemGetParameters(name: try ItemName("a"))
            driver.submit(try Call(Int64(each + number), params, descriptor: PassedDescriptor(borrowing: 6)))
        }
        driver.flush()
        let methods = try driver.requests().map(\.method)
        #expect(methods.count { $0 == "item.put" } == max(1, each / 2))
        #expect(methods.count { $0 == "item.get" } == max(1, each / 2))
    }
}
