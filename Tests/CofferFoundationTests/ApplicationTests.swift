import CofferFoundation
import CofferTestSupport
import Foundation
import Synchronization
import Testing

/// What a program from iOS asks of its application, its context and the system.
@Suite struct ApplicationTests {
    private final class Posted: Sendable {
        private let names = Mutex<[Notification.Name]>([])
        func append(_ name: Notification.Name) { names.withLock { $0.append(name) } }
        var all: [Notification.Name] { names.withLock { $0 } }
    }

    @Test func `locks and unlocks are posted as iOS names them, also those of a daemon that is started anew`() throws {
        let device = try Device()
        try device.run {
            let names = [
                UIApplication.protectedDataWillBecomeUnavailableNotification,
                UIApplication.protectedDataDidBecomeAvailableNotification,
            ]
            #expect(
                names.map(\.rawValue) == [
                    "UIApplicationProtectedDataWillBecomeUnavailable", "UIApplicationProtectedDataDidBecomeAvailable",
                ]
            )
            let posted = Posted()
            let observers = names.map { name in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
                    posted.append(name)
                }
            }
            defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
            func expect(_ expected: [Notification.Name]) {
                for _ in 0..<2000 where posted.all.count < expected.count { usleep(10_000) }
                #expect(posted.all == expected)
            }
            #expect(UIApplication.shared.isProtectedDataAvailable)
            try device.lock()
            expect([names[0]])
            #expect(!UIApplication.shared.isProtectedDataAvailable)
            try device.unlock()
            expect([names[0], names[1]])
            try device.reboot()
            expect([names[0], names[1], names[0]])
        }
    }

    @Test func `biometry compiles, and answers that there is none`() throws {
        var error: CFError?
        for flag in [
            SecAccessControlCreateFlags.biometryAny, .biometryCurrentSet, .touchIDAny, .touchIDCurrentSet, .companion,
        ] {
            error = nil
            let control = SecAccessControlCreateWithFlags(
                nil,
                kSecAttrAccessibleWhenUnlocked,
                [flag, .or, .devicePasscode],
                &error
            )
            #expect(control == nil)
            #expect(error?.code == Int(errSecParam))
        }
        let context = LAContext()
        #expect(context.biometryType == .none)
        for (policy, code) in [
            (LAPolicy.deviceOwnerAuthenticationWithBiometrics, LAError.Code.biometryNotAvailable),
            (.deviceOwnerAuthentication, .notInteractive),
        ] {
            var reason: NSError?
            #expect(!context.canEvaluatePolicy(policy, error: &reason))
            #expect(reason?.domain == LAErrorDomain && reason?.code == code.rawValue)
            let posted = Posted()
            context.evaluatePolicy(policy, localizedReason: "to test") { isDone, error in
                posted.append(Notification.Name("\(isDone) \((error as? LAError)?.code == code)"))
            }
            #expect(posted.all.map(\.rawValue) == ["false true"])
        }
    }

    @Test func `random bytes come from the system`() {
        var bytes = [UInt8](repeating: 0, count: 64)
        #expect(SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes) == errSecSuccess)
        #expect(Set(bytes).count > 16)
        var others = bytes
        #expect(SecRandomCopyBytes(nil, others.count, &others) == errSecSuccess)
        #expect(others != bytes)
        #expect(SecRandomCopyBytes(kSecRandomDefault, -1, &others) == errSecParam)
    }
}
