public import Foundation

/// What `LAContext` is asked to establish.
public enum LAPolicy: Int, Sendable {
    /// A finger or a face.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// A finger, a face or the passcode, for which the system would prompt.
    case deviceOwnerAuthentication = 2
}

/// The biometry of the device.
public enum LABiometryType: Int, Sendable {
    /// None, as always here.
    case none = 0
    /// A finger.
    case touchID = 1
    /// A face.
    case faceID = 2
}

/// The domain of ``LAError``.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// Why a policy can't be evaluated.
public struct LAError: Error, CustomNSError, LocalizedError, Hashable, Sendable {
    /// The codes, with the values of iOS.
    public enum Code: Int, Sendable {
        /// There is no biometry here.
        case biometryNotAvailable = -6
        /// There is no prompt here: the program asks for the passcode itself.
        case notInteractive = -1004
    }

    /// The code.
    public let code: Code

    /// Makes an error.
    public init(_ code: Code) { self.code = code }

    /// The domain.
    public static var errorDomain: String { LAErrorDomain }
    /// The number of the code.
    public var errorCode: Int { code.rawValue }
    /// The reason, in words.
    public var errorDescription: String? {
        switch code {
        case .biometryNotAvailable: "there is no biometry: a vault is opened by its passcode"
        case .notInteractive: "there is no prompt: ask for the passcode, and call 'setCredential' with it"
        }
    }
}

extension LAContext {
    /// The biometry of the device: none.
    public var biometryType: LABiometryType { .none }

    /// Whether a policy can be evaluated: never, because nothing prompts here.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - error: Receives the reason, an ``LAError``.
    /// - Returns: `false`.
    public func canEvaluatePolicy(_ policy: LAPolicy, error: UnsafeMutablePointer<NSError?>?) -> Bool {
        let reason = Self.refusal(of: policy)
        unsafe error?.pointee = NSError(
            domain: LAErrorDomain,
            code: reason.errorCode,
            userInfo: [NSLocalizedDescriptionKey: reason.errorDescription ?? ""]
        )
        return false
    }

    /// Answers that a policy can't be evaluated.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - localizedReason: Ignored.
    ///   - reply: Gets `false` and an ``LAError``, before the call returns.
    public func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping (Bool, (any Error)?) -> Void
    ) {
        reply(false, Self.refusal(of: policy))
    }

    /// Throws that a policy can't be evaluated.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - localizedReason: Ignored.
    /// - Throws: ``LAError``.
    public func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        throw Self.refusal(of: policy)
    }

    private static func refusal(of policy: LAPolicy) -> LAError {
        LAError(policy == .deviceOwnerAuthentication ? .notInteractive : .biometryNotAvailable)
    }
}
