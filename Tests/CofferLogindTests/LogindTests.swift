import CofferLogind
import CofferSystem
import Glibc
import Testing

/// What becomes of a machine without a message bus; what logind announces is in SystemdTests.
@Suite(.serialized) struct LogindTests {
    private final class Warnings {
        var texts: [String] = []
    }

    private func logind(on loop: EventLoop, _ warnings: Warnings) throws -> Logind {
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1)
        return try Logind(on: loop, delaysSleep: true) { warnings.texts.append($0) }
    }

    @Test func `nothing is listened to before the first unlock`() throws {
        let warnings = Warnings()
        let logind = try logind(on: EventLoop(), warnings)
        logind.unlockedDidChange(false)
        #expect(warnings.texts.isEmpty)
    }

    @Test func `a bus that is not there is warned of once, however often the vault is unlocked`() throws {
        let warnings = Warnings()
        let logind = try logind(on: EventLoop(), warnings)
        for _ in 0..<3 {
            logind.unlockedDidChange(true)
            logind.unlockedDidChange(false)
        }
        #expect(warnings.texts.count == 1)
        #expect(warnings.texts.first?.hasPrefix("logind can't be heard: ") == true)
    }
}
