import CofferClient
import CofferCore
import CofferWire
import Testing

/// A machine that waits for a daemon: for half a minute at most, if nothing is heard.
@Suite struct `A machine with a timeout` {
    private func driver(_ policy: ReconnectPolicy = .never) -> MachineDriver {
        MachineDriver(policy, timeout: .seconds(30))
    }

    /// The `hello` by which it asks whether the daemon is there.
    private func probes(_ requests: [Request]) -> [Request] { requests.filter { $0.id == .integer(0) } }

    @Test func `has no deadline while the daemon owes nothing`() throws {
        let driver = driver()
        #expect(driver.delay == nil)
        try driver.submit(1)
        driver.flush()
        #expect(driver.delay == .seconds(15))
        driver.hear(answer(1, lockedStatus))
        #expect(driver.delay == nil)
        driver.pass(.seconds(3600))
        #expect(driver.isConnected && driver.effects() == ["1 answered, 0"])
    }

    @Test func `asks at half time, and ends every call of a daemon that stays silent`() throws {
        let driver = driver(ReconnectPolicy(attempts: 3))
        try driver.submit(1)
        try driver.submit(2, changes: true)
        driver.flush()
        _ = try driver.requests()
        driver.pass(.seconds(15))
        driver.flush()
        #expect(try driver.requests().map(\.method) == ["hello"])
        #expect(driver.delay == .seconds(15) && driver.effects() == [])
        driver.pass(.seconds(14))
        #expect(driver.isConnected)
        driver.pass(.seconds(1))
        #expect(driver.effects() == ["1 failed, notAvailable", "2 failed, outcomeUnknown", "lost, notAvailable"])
        #expect(!driver.wantsConnection, "what has been silent for so long is not asked again")
    }

    @Test func `waits for as long as a request takes, if the daemon says that it is there`() throws {
        let driver = driver()
        try driver.submit(1, changes: true)
        driver.flush()
        for _ in 0..<100 {
            driver.pass(.seconds(15))
            driver.flush()
            #expect(probes(try driver.requests()).count == 1)
            driver.hear(answer(0, ["protocol": 1, "version": "0"]))
        }
        driver.hear(answer(1, [:]))
        #expect(driver.effects() == ["1 answered, 0"])
        #expect(driver.delay == nil)
    }

    @Test(arguments: [false, true])
    func `takes anything that it hears for a sign of life`(isPiecemeal: Bool) throws {
        let driver = driver()
        try driver.submit(1)
        driver.flush()
        let news = news("protectedDataDidBecomeAvailable")
        for step in 0..<(isPiecemeal ? news.count : 20) {
            driver.pass(.seconds(14))
            driver.hear(isPiecemeal ? [news[step]] : news)
        }
        driver.flush()
        #expect(probes(try driver.requests()).isEmpty)
        #expect(driver.isConnected && driver.delay == .seconds(15))
    }

    @Test func `does not ask a second time before the first answer, and does not take it for another's`() throws {
        let driver = driver()
        try driver.submit(1)
        driver.flush()
        driver.pass(.seconds(15))
        driver.flush()
        driver.hear(news("protectedDataDidBecomeAvailable"))
        driver.pass(.seconds(15))
        driver.flush()
        #expect(probes(try driver.requests()).count == 1)
        driver.hear(answer(0, ["protocol": 1, "version": "0"]) + answer(1, lockedStatus))
        #expect(driver.effects() == ["event protectedDataDidBecomeAvailable", "1 answered, 0"])
    }

    @Test func `asks before it gives up, however long its process slept`() throws {
        let driver = driver()
        try driver.submit(1)
        driver.flush()
        driver.pass(.seconds(36_000))
        #expect(driver.isConnected && driver.delay == .seconds(15))
        driver.hear(answer(1, lockedStatus))
        #expect(driver.effects() == ["1 answered, 0"])
    }

    @Test func `counts anew on a new connection`() throws {
        let driver = MachineDriver(ReconnectPolicy(attempts: 3), isConnected: false, timeout: .seconds(30))
        try driver.submit(1)
        driver.pass(.seconds(100))
        driver.connect()
        driver.flush()
        #expect(driver.delay == .seconds(15))
    }
}
