import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The keys, when the daemon is killed in the middle of what is done with them.
@Suite struct KeysDurabilityTests {
    private func secret(_ text: String) throws -> SecretBytes { try SecretBytes(text.utf8) }

    @Test(arguments: ["wrong", DaemonProcess.passcode])
    func `a kill between a guess and its answer counts as a failure`(passcode: String) throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        for round in 1...3 {
            let client = try daemon.connect()
            let before = try #require(FileManager.default.contents(atPath: daemon.statePath + "/attempts"))
            let guess = Background { try client.unlock("\(passcode)\(passcode == "wrong" ? "\(round)" : "")") }
            // The count changes before the guess is stretched, which takes far longer than a look at the file.
            var looks = 0
            while FileManager.default.contents(atPath: daemon.statePath + "/attempts") == before, looks < 20_000 {
                usleep(100)
                looks += 1
            }
            daemon.kill()
            #expect(throws: CofferError.self) { try guess.wait() }
            try daemon.restart()
            #expect(try daemon.connect().status().failedAttempts == round)
        }
        try daemon.connect().unlock()
        #expect(try daemon.connect().status().failedAttempts == 0)
    }

    @Test func `the same wrong passcode counts once, also after a restart`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        for _ in 1...3 {
            for guess in ["one", "two", "one"] {
                #expect(try Outcome { try daemon.connect().unlock(guess) } == .refused(.authFailed))
            }
            try daemon.restart()
        }
        #expect(try daemon.connect().status().failedAttempts == 2)
    }

    @Test func `a kill in the middle of a change of the passcode leaves the old one or the new`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        try daemon.connect().put("a", [1, 2, 3])
        var current = DaemonProcess.passcode
        for round in 1...15 {
            let client = try daemon.connect()
            let next = "passcode \(round)"
            let old = current
            let change = Background {
                _ = try client.changePasscode(with: try secret(old), to: try secret(next), kdf: .interactive)
            }
            sleepSeconds(Double((round * 29) % 23) / 100)
            daemon.kill()
            let isAcknowledged = (try? change.wait()) != nil
            try daemon.restart()
            let again = try daemon.connect()
            let opensNew = try Outcome { try again.unlock(next) } == .done
            if !opensNew {
                #expect(!isAcknowledged, "round \(round)")
                try again.unlock(current)
            }
            if opensNew { current = next }
            #expect(try again.get("a") == [1, 2, 3])
            let names = try FileManager.default.contentsOfDirectory(atPath: daemon.statePath)
            #expect(!names.contains("keybag.new"), "the old keybag is not left behind")
        }
    }
}
