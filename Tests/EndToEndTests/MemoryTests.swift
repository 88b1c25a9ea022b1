import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// What the process of the daemon gives away.
@Suite struct MemoryTests {
    @Test func `the daemon can't be dumped, attached to by its own user, or leave a core`() throws {
        let daemon = try DaemonProcess()
        let limits = try String(contentsOfFile: "/proc/\(daemon.processID)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
        let status = try String(contentsOfFile: "/proc/\(daemon.processID)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1"))
        // The kernel gives the files of a process that is not dumpable to root.
        if geteuid() != 0 {
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(daemon.processID)/mem")
            #expect(owner[.ownerAccountID] as? Int == 0)
        }
    }

    @Test func `secrets live in memory that is locked and not dumped`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        let status = try String(contentsOfFile: "/proc/\(daemon.processID)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
        let locked = try #require(line.split(separator: " ").compactMap { Int($0) }.first)
        #expect(locked >= 64)
    }
}
