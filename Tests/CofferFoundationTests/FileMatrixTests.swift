import CofferClient
import CofferCore
import CofferFoundation
import CofferTestSupport
import Foundation
import Testing

/// Section 3 of the semantics, by the names of Foundation.
@Suite struct FileMatrixTests {
    private static let types: [(FileProtectionType, Data.WritingOptions, ProtectionClass)] = [
        (.complete, .completeFileProtection, .complete),
        (.completeUnlessOpen, .completeFileProtectionUnlessOpen, .completeUnlessOpen),
        (
            .completeUntilFirstUserAuthentication, .completeFileProtectionUntilFirstUserAuthentication,
            .completeUntilFirstUserAuthentication
        ),
        (.completeWhenUserInactive, .completeFileProtectionWhenUserInactive, .completeWhenUserInactive),
        (FileProtectionType.none, .noFileProtection, .none),
    ]

    @Test(arguments: TestState.allCases)
    func `reads, writes, makes and describes what the table permits`(state: TestState) throws {
        let device = try TimedDevice(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        try device.run {
            let manager = CofferFileManager.default
            for (index, entry) in Self.types.enumerated() {
                try Data("before".utf8).write(to: CofferURL(fileURLWithPath: "/old/\(index)"), options: entry.1)
            }
            try device.bring(into: state)
            for (index, (type, options, protectionClass)) in Self.types.enumerated() {
                let old = CofferURL(fileURLWithPath: "/old/\(index)")
                let new = CofferURL(fileURLWithPath: "/new/\(index)")
                func permits(_ operation: ItemOperation) -> Bool {
                    protectionClass.permits(operation, in: state.name)
                }
                let isReadable = manager.isReadableFile(atPath: old.path)
                #expect(isReadable == permits(.read), "\(type)")
                var content: Data?
                let read = try FileOutcome { content = try Data(contentsOf: old) }
                #expect(content == (permits(.read) ? Data("before".utf8) : nil), "\(type)")
                #expect(read == (permits(.read) ? .done : .cannotRead), "\(type)")
                let made = try FileOutcome { try Data("new".utf8).write(to: new, options: options) }
                #expect(made == (permits(.create) ? .done : .cannotWrite), "\(type)")
                let written = try FileOutcome { try Data("after".utf8).write(to: old) }
                #expect(written == (permits(.write) ? .done : .cannotWrite), "\(type)")
                let replaced = try FileOutcome {
                    try Data("third".utf8).write(to: old, options: options.union(.atomic))
                }
                #expect(replaced == (permits(.create) ? .done : .cannotWrite), "\(type)")
                #expect(manager.fileExists(atPath: old.path), "locked is not missing")
                if state == .beforeFirstUnlock && type != FileProtectionType.none {
                    // Its name, its size and its dates are under the passcode.
                    let outcome = try FileOutcome { _ = try manager.attributesOfItem(atPath: old.path) }
                    #expect(outcome == .cannotRead)
                    continue
                }
                let attributes = try manager.attributesOfItem(atPath: old.path)
                #expect(attributes[.protectionKey] as? FileProtectionType == type)
                let size = permits(.create) ? 5 : 6
                #expect((attributes[.size] as? NSNumber)?.intValue == size, "\(type)")
            }
        }
    }

    @Test(arguments: TestState.allCases)
    func `changes a protection where both keys are there`(state: TestState) throws {
        let device = try TimedDevice(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        try device.run {
            for (index, entry) in Self.types.enumerated() {
                for target in Self.types.indices {
                    try Data([1]).write(to: CofferURL(fileURLWithPath: "/\(index)/\(target)"), options: entry.1)
                }
            }
            try device.bring(into: state)
            for (index, entry) in Self.types.enumerated() {
                for (target, wanted) in Self.types.enumerated() {
                    let path = "/\(index)/\(target)"
                    let outcome = try FileOutcome {
                        try CofferFileManager.default.setAttributes([.protectionKey: wanted.0], ofItemAtPath: path)
                    }
                    let canBe = entry.2.permits(.read, in: state.name) && wanted.2.permits(.create, in: state.name)
                    let isNamed = state != .beforeFirstUnlock || entry.2 == .none
                    let expected = canBe || index == target && isNamed ? FileOutcome.done : .cannotWrite
                    #expect(outcome == expected, "\(entry.2) to \(wanted.2)")
                    if state == .beforeFirstUnlock && (canBe ? wanted.2 : entry.2) != .none { continue }
                    let now = try CofferFileManager.default.attributesOfItem(atPath: path)[.protectionKey]
                    #expect(now as? FileProtectionType == (canBe ? wanted.0 : entry.0), "\(entry.2) to \(wanted.2)")
                }
            }
        }
    }

    @Test(arguments: [TestState.locking, .locked, .lockedExpired, .beforeFirstUnlock])
    func `an open file goes on, or ends, as its class says`(state: TestState) throws {
        let device = try TimedDevice()
        try device.run {
            let handles = try Self.types.enumerated().map { index, entry in
                let url = CofferURL(fileURLWithPath: "/\(index)")
                try Data("before".utf8).write(to: url, options: entry.1)
                return try CofferFileHandle(forUpdating: url)
            }
            try device.bring(into: state)
            for (handle, entry) in zip(handles, Self.types) {
                let goesOn = entry.2.permits(.proceed, in: state.name)
                let written = try FileOutcome { try handle.write(contentsOf: Data("af".utf8)) }
                #expect(written == (goesOn ? .done : .cannotWrite), "\(entry.2)")
                try handle.seek(toOffset: 0)
                var content: Data?
                let read = try FileOutcome { content = try handle.readToEnd() }
                #expect(content == (goesOn ? Data("affore".utf8) : nil), "\(entry.2)")
                #expect(read == (goesOn ? .done : .cannotRead), "\(entry.2)")
            }
        }
    }
}
