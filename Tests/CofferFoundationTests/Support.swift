import CofferClient
import CofferCore
import CofferFoundation
import CofferTestSupport
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

    /// Brings it into a state in which keys are missing, or were there.
    func bring(into state: DeviceState) throws {
        switch state {
        case .unlocked: break
        case .locked: try lock()
        case .beforeFirstUnlock: try reboot()
        }
    }
}

/// The states that ported code meets.
enum DeviceState: String, CaseIterable, Sendable {
    case unlocked, locked, beforeFirstUnlock

    var vault: VaultState {
        switch self {
        case .unlocked: .unlocked
        case .locked: .locked
        case .beforeFirstUnlock: .beforeFirstUnlock
        }
    }
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
