import CofferClient
import CofferCore
import CofferFoundation
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A vault with a real daemon, which everything in a part of a test goes to.
final class Device {
    let process: DaemonProcess
    private let daemon: CofferDaemon

    init(passcode: String? = DaemonProcess.passcode) throws {
        process = try DaemonProcess()
        try process.connect().makeVault(passcode: passcode)
        daemon = CofferDaemon(socketPath: process.socketPath, container: "app")
    }

    /// Runs a part of a test with this daemon.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result { try CofferDaemon.with(daemon, body) }

    func lock() throws { _ = try process.connect().lock(graceSeconds: 0) }
    func unlock() throws { try process.connect().unlock() }
    /// As after a boot: nothing was unlocked yet.
    func reboot() throws { try process.restart() }
}

/// A vault with a server whose clock goes when a test says so: for the states that time brings.
final class TimedDevice {
    private let clock = ManualClock()
    private let server: TestServer
    private let daemon: CofferDaemon

    init(passcode: String? = DaemonProcess.passcode) throws {
        server = try TestServer(clock: clock.clock)
        try server.connect().makeVault(passcode: passcode)
        daemon = CofferDaemon(socketPath: server.directory.appending("socket"), container: "app")
    }

    /// Runs a part of a test with this server.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try CofferDaemon.with(daemon, body) }
    }

    /// Brings it from unlocked, or from having no passcode, into another state.
    func bring(into state: TestState) throws {
        switch state {
        case .noPasscode, .unlocked: break
        case .locking: try lock(graceSeconds: nil)
        case .locked: try lock(graceSeconds: 0)
        case .lockedExpired:
            try lock(graceSeconds: 0)
            clock.advance(by: Double(Limits.defaultInactiveSeconds + 1))
        case .beforeFirstUnlock:
            try lock(graceSeconds: 0)
            clock.advance(by: Double(Limits.defaultForgetSeconds + 1))
        }
        let reached = try server.connect().status().state
        #expect(reached == state.name)
    }

    private func lock(graceSeconds: Int?) throws { _ = try server.connect().lock(graceSeconds: graceSeconds) }
}

/// What a call on files came to: nothing, or the code of Foundation's error.
enum FileOutcome: Equatable {
    case done
    case failed(Int)

    static let cannotRead = FileOutcome.failed(NSFileReadNoPermissionError)
    static let cannotWrite = FileOutcome.failed(NSFileWriteNoPermissionError)

    init(_ body: () throws -> Void) throws {
        do {
            try body()
            self = .done
        } catch let error as NSError where error.domain == NSCocoaErrorDomain {
            self = .failed(error.code)
        }
    }
}

/// Expects of a call on files that it comes to something.
func expect(
    _ expected: FileOutcome,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) throws {
    let outcome = try FileOutcome(body)
    #expect(outcome == expected, sourceLocation: sourceLocation)
}
