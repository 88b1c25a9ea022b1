import CofferTestSupport
import Testing

extension SystemdTests {
    /// Starting with the first connection, and ending on a signal.
    @Suite struct ActivationTests {
        @Test func `the first connection starts the service, and nothing before it`() throws {
            let service = try Service("coffer-first")
            let before = try service.property("ActiveState")
            #expect(before == "inactive")
            let state = try service.state()
            #expect(state == "noVault")
            // With Type=notify it is "activating" until READY=1 arrives.
            let after = try service.property("ActiveState")
            #expect(after == "active")
            let starts = try service.journal().split(separator: "\n")
            #expect(starts.count == 1)
            #expect(starts.first?.contains("has no seat with a screen: a vault with a passcode is") == true)
        }

        @Test func `a stop is orderly, and the next connection starts the service again`() throws {
            let service = try Service("coffer-stop")
            try service.makeVault()
            try service.put("token", "always there", "Always")
            let first = try service.property("MainPID")
            try service.control("stop", "coffer-stop.service")
            let result = try service.property("Result")
            #expect(result == "success")
            // 1 is CLD_EXITED: it exited, and was not killed.
            let end = try [service.property("ExecMainCode"), service.property("ExecMainStatus")]
            #expect(end == ["1", "0"])
            let secret = try service.get("token")
            #expect(secret == "always there")
            let second = try service.property("MainPID")
            #expect(second != first)
        }

        @Test func `a person's own service manager runs it as well`() throws {
            let service = try Service("coffer-mine", of: Machine.person)
            let before = try service.property("ActiveState")
            #expect(before == "inactive")
            try service.makeVault()
            try service.put("token", "mine", "WhenUnlocked")
            let after = try service.property("ActiveState")
            #expect(after == "active")
            try service.control("restart", "coffer-mine.service")
            let locked = try service.get("token")
            #expect(locked == nil)
            try service.unlock()
            let secret = try service.get("token")
            #expect(secret == "mine")
        }

        @Test func `a unit that may lock no memory does not come up, and says why`() throws {
            let service = try Service("coffer-tight", ["LimitMEMLOCK=0"])
            let answer = try service.coffer("init", "--no-passcode")
            #expect(answer.status != 0)
            let isRunning = try service.isActive
            #expect(!isRunning)
            let said = try service.journal { $0.contains("memory") }
            #expect(said.contains("memory"), "\(said)")
        }
    }
}
