import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Several clients that change keys at the same time.
@Suite struct ConcurrentKeysTests {
    private func secret(_ text: String) throws -> SecretBytes { try SecretBytes(text.utf8) }

    @Test func `of two that set a passcode one succeeds, and the other is told that there is one`() throws {
        let server = try TestServer()
        try server.connect().makeVault(passcode: nil)
        let attempts = try ["one", "two"].map { passcode in
            let client = try server.connect()
            return Background {
                try Outcome {
                    let new: SecretBytes? = try secret(passcode)
                    _ = try client.setPasscode(new, kdf: .interactive)
                }
            }
        }
        let outcomes = try attempts.map { try $0.wait() }
        #expect(Set(outcomes.map { "\($0)" }) == Set([Outcome.done, .refused(.duplicateItem)].map { "\($0)" }))
        let client = try server.connect()
        _ = try client.lock(graceSeconds: 0)
        try client.unlock(outcomes[0] == .done ? "one" : "two")
    }

    @Test func `after two recoveries of a moved vault, memory and disk have the passcode that was set last`() throws {
        let directory = try TemporaryDirectory()
        let key: [UInt8]
        do {
            let server = try TestServer(in: directory)
            defer { withExtendedLifetime(server) {} }
            let client = try server.connect()
            let passcode: SecretBytes? = try secret(DaemonProcess.passcode)
            let made = try client.initialize(passcode: passcode, kdf: .interactive)
            key = made.takePayload()?.exposeBytes() ?? []
        }
        try FileManager.default.removeItem(atPath: directory.appending("state/device.key"))
        let last = try recoverTwice(in: directory, with: key)
        // After a restart, the vault has the passcode that the daemon acknowledged last.
        let next = try TestServer(in: directory)
        try next.connect().unlock(last)
        withExtendedLifetime(next) {}
    }

    /// Recovers a moved vault from two clients at the same time.
    ///
    /// - Returns: The passcode that the daemon accepts afterwards.
    private func recoverTwice(in directory: TemporaryDirectory, with key: [UInt8]) throws -> String {
        let server = try TestServer(in: directory)
        #expect(becomesTrue { try server.connect().status().state == .deviceKeyMissing })
        let recoveries = try ["one", "two"].map { passcode in
            let client = try server.connect()
            return Background {
                try Outcome {
                    _ = try client.changePasscode(
                        with: try SecretBytes(key),
                        as: .recoveryKey,
                        to: try secret(passcode),
                        kdf: .interactive
                    )
                }
            }
        }
        for recovery in recoveries { #expect(try recovery.wait() == .done) }
        let client = try server.connect()
        _ = try client.lock(graceSeconds: 0)
        let opens = try ["one", "two"].map { passcode in try Outcome { try client.unlock(passcode) } == .done }
        #expect(opens.filter { $0 }.count == 1)
        return opens[0] ? "one" : "two"
    }

    @Test func `no item that wants a passcode comes to be while the passcode is removed`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        let other = try server.connect()
        let removal = Background {
            let passcode: SecretBytes? = try secret(DaemonProcess.passcode)
            return try client.removePasscode(with: passcode, destroying: 0).state
        }
        var stored: [String] = []
        for number in 0..<2000 {
            let outcome = try Outcome {
                try other.put("item \(number)", [1]) { $0.accessibility = .whenPasscodeSetThisDeviceOnly }
            }
            if outcome == .refused(.authFailed) { break }
            stored.append("item \(number)")
        }
        switch try Outcome({ _ = try removal.wait() }) {
        // No item was stored before the removal, so none is lost.
        case .done: #expect(stored.isEmpty)
        // Some items were stored, and the client has not confirmed their loss.
        case .refused(let code):
            #expect(code == .param)
            for name in stored { #expect(try other.get(name) == [1]) }
        }
    }
}
