import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// What the process of the daemon gives away.
@Suite struct MemoryTests {
    @Test func `the daemon can't be dumped, and leaves no core`() throws {
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

    @Test(.enabled(if: MemoryScanner.isPermitted, "only root can take the rights of root from a process"))
    func `a process of the same user and rights can't look into the daemon`() throws {
        let rights = "-sys_ptrace,-sys_admin,-perfmon"
        let launcher = ["/usr/bin/setpriv", "--bounding-set=\(rights)", "--inh-caps=\(rights)"]
        func canLook(into processID: Int32) throws -> Bool {
            let head = launcher.dropFirst() + ["head", "-c", "1", "/proc/\(processID)/environ"]
            return try runCommand(launcher[0], Array(head)).output.count == 1
        }
        let other = Process()
        other.executableURL = URL(filePath: launcher[0])
        other.arguments = launcher.dropFirst() + ["sleep", "60"]
        try other.run()
        defer { other.terminate() }
        let isOtherOpen = try settles { try canLook(into: other.processIdentifier) }
        #expect(isOtherOpen, "the test can't tell: it can look into nothing")
        let daemon = try DaemonProcess(launchedBy: launcher)
        let isDaemonOpen = try canLook(into: daemon.processID)
        #expect(!isDaemonOpen)
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
