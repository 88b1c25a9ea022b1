import CofferTestSupport
import Foundation
import Testing

/// A byte changed in the log of a daemon that was killed, with the real programs.
@Suite struct LogTests {
    private func run(_ daemon: DaemonProcess, _ arguments: String..., status: Int32, _ texts: String...) throws {
        let result = try daemon.coffer(arguments)
        #expect(result.status == status, "\(arguments): \(result.text)\(result.errors)")
        for text in texts {
            #expect((result.text + result.errors).contains(text), "\(arguments): \(result.text)\(result.errors)")
        }
    }

    @Test func `is named by the daemon, the status, the doctor and the audit until it is acknowledged`() throws {
        let directory = try TemporaryDirectory()
        let errors = directory.appending("errors")
        let daemon = try DaemonProcess(
            in: directory,
            launchedBy: ["/bin/sh", "-c", "exec \"$0\" \"$@\" 2>>\(errors)"]
        )
        try run(daemon, "init", "--no-passcode", "--no-recovery-key", status: 0)
        for number in 0..<3 {
            #expect(try daemon.coffer(["put", "service/\(number)"], input: Array("secret".utf8)).status == 0)
        }
        daemon.kill()
        let path = "\(daemon.statePath)/vault.sqlite-wal"
        var log = [UInt8](try Data(contentsOf: URL(filePath: path)))
        log[20] ^= 1
        try Data(log).write(to: URL(filePath: path))
        // It may say already that the log is not needed any more.
        try? FileManager.default.removeItem(atPath: "\(daemon.statePath)/vault.sqlite-mark")
        try daemon.restart()
        let what = "the log of the database was damaged"
        #expect(
            String(decoding: try #require(directory.contents("errors")), as: UTF8.self).contains("warning: \(what)")
        )
        try run(daemon, "status", status: 0, what, "coffer doctor --acknowledge")
        try run(daemon, "doctor", status: 65, "fault: \(what)", "hint: store again what is missing")
        try run(daemon, "doctor", "--json", status: 65, "\"faults\":2")
        try run(daemon, "audit", "--verify", status: 65, "fault: \(what)")
        try run(daemon, "doctor", "--acknowledge", status: 64)
        try run(daemon, "doctor", "--acknowledge", "--yes", status: 0, "acknowledged 2 of 2 faults")
        try run(daemon, "doctor", "--acknowledge", "--yes", status: 0, "there is no fault")
        try run(daemon, "doctor", status: 0, "all is well")
        // The records that the log had stay missing.
        try run(daemon, "audit", "--verify", status: 65, "are missing")
    }
}
