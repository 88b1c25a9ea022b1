import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// If the creation of a vault fails, there is no vault: its recovery key was never shown.
@Suite struct InitFailureTests {
    @Test(arguments: FailingCalls.Kind.allCases)
    func `whichever call on the disk fails, a vault is whole or not there`(kind: FailingCalls.Kind) throws {
        let calls = try FailingCalls()
        let daemon = calls.daemon
        let client = try daemon.connect()
        var refusals = 0
        for number in 1...200 as ClosedRange<Int32> {
            calls.fail(number, of: kind)
            let outcome = try Outcome { try client.makeVault(passcode: nil) }
            let hasFailed = calls.end()
            if outcome != .done {
                #expect(hasFailed, "call \(number): \(outcome)")
                refusals += 1
                #expect(try client.status().state == .noVault, "call \(number)")
                try client.makeVault(passcode: nil)
            }
            try client.put("a", [1])
            #expect(try client.get("a") == [1])
            if !hasFailed { break }
            try client.eraseWhateverIsThere()
            let erased = daemon.directory.appending("state/erased")
            #expect(settles { !FileManager.default.fileExists(atPath: erased) })
        }
        #expect(refusals >= 1)
    }
}
