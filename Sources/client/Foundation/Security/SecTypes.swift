internal import CofferCore
public import Foundation

// Types of CoreFoundation and C in terms of Swift on Linux, so that `query as CFDictionary` still compiles.

/// A dictionary of a keychain call.
public typealias CFDictionary = [String: Any]
/// The result of a keychain call: `var result: CFTypeRef?`.
public typealias CFTypeRef = Any
/// A text.
public typealias CFString = String
/// Bytes.
public typealias CFData = Data
/// A truth value.
public typealias CFBoolean = Bool
/// The error of making an access control.
public typealias CFError = NSError
/// The status of a keychain call.
public typealias OSStatus = Int32

/// True.
public let kCFBooleanTrue: CFBoolean? = true
/// False.
public let kCFBooleanFalse: CFBoolean? = false

/// A reference to an item, as `kSecReturnRef` returns and `kSecValueRef` accepts it.
public struct SecItemReference: Hashable, Sendable {
    let id: ItemID
    let itemClass: ItemClass
}

/// When the secret of an item is available, and which authentication it requires.
public struct SecAccessControl: Hashable, Sendable {
    let accessibility: Accessibility
    /// `nil` if no authentication is required.
    let control: AccessControl?
}

/// The flags of an access control, with the values of iOS.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes flags from bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The presence of the user, which only the passcode proves here.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    /// Any finger or face: there is no biometry here, so an access control with it is refused.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
    /// The fingers or faces that are enrolled now: refused, as ``biometryAny``.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    /// A former name of ``biometryAny``.
    public static let touchIDAny = biometryAny
    /// A former name of ``biometryCurrentSet``.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// A paired device: refused, as ``biometryAny``.
    public static let companion = SecAccessControlCreateFlags(rawValue: 1 << 5)
    /// The passcode of the vault.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    /// One of the constraints must be met.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// All of the constraints must be met.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// Allows the use of the private key.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// A password of the item itself.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)

    private static let words: [(flag: SecAccessControlCreateFlags, word: AccessControl.Flag)] = [
        (.userPresence, .userPresence), (.devicePasscode, .devicePasscode), (.or, .or), (.and, .and),
        (.privateKeyUsage, .privateKeyUsage), (.applicationPassword, .applicationPassword),
    ]

    /// The names of the flags.
    ///
    /// - Throws: `param` if Coffer does not have one of them, because it could not be enforced.
    fileprivate var words: Set<AccessControl.Flag> {
        get throws(CofferError) {
            let found = Self.words.filter { contains($0.flag) }
            guard found.reduce(into: [], { $0.formUnion($1.flag) }) == self else {
                throw CofferError(
                    .param,
                    "the access control has flags that can't be met here",
                    hint:
                        "there are 'userPresence', 'devicePasscode', 'applicationPassword', 'privateKeyUsage', 'or', 'and'"
                )
            }
            return Set(found.map(\.word))
        }
    }
}

/// Makes an access control.
///
/// - Parameters:
///   - allocator: Ignored.
///   - protection: When the secret is available: a value of `kSecAttrAccessible`.
///   - flags: The required authentication; empty for none.
///   - error: Receives the reason of a failure.
/// - Returns: `nil` if Coffer does not support it, for example biometry.
public func SecAccessControlCreateWithFlags(
    _ allocator: Any?,
    _ protection: CFTypeRef,
    _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<CFError?>?
) -> SecAccessControl? {
    do throws(CofferError) {
        let accessibility = try Accessibility(secValue: protection)
        let control = flags.isEmpty ? nil : try AccessControl(try flags.words)
        return SecAccessControl(accessibility: accessibility, control: control)
    } catch let failure {
        unsafe error?.pointee = NSError(
            domain: NSOSStatusErrorDomain,
            code: failure.code.osStatus,
            userInfo: [NSUnderlyingErrorKey: failure, NSLocalizedDescriptionKey: failure.message]
        )
        return nil
    }
}

/// The credentials of the user, for `kSecUseAuthenticationContext`.
///
/// It never prompts: the program itself must ask the user.
public final class LAContext: @unchecked Sendable {
    // Sendable: the lock guards what is mutable.
    private let lock = NSLock()
    private var credentials: [LACredentialType: Data] = [:]
    private var isInteractionForbidden = false

    /// Makes a context without credentials.
    public init() {}

    /// Stores a credential in ordinary memory, which is not wiped.
    ///
    /// - Parameters:
    ///   - credential: The secret; `nil` removes it.
    ///   - type: The type of the credential.
    /// - Returns: `true`.
    @discardableResult public func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        lock.withLock { credentials[type] = credential }
        return true
    }

    /// Whether a credential is set.
    ///
    /// - Parameter type: The type of the credential.
    public func isCredentialSet(_ type: LACredentialType) -> Bool { lock.withLock { credentials[type] != nil } }

    /// Removes all credentials.
    public func invalidate() { lock.withLock { credentials = [:] } }

    /// Whether a call fails with `errSecInteractionNotAllowed` if an item wants authentication that the context lacks.
    public var interactionNotAllowed: Bool {
        get { lock.withLock { isInteractionForbidden } }
        set { lock.withLock { isInteractionForbidden = newValue } }
    }

    /// The credentials to present.
    var shown: [LACredentialType: Data] { lock.withLock { credentials } }
}

/// The type of a credential of an ``LAContext``.
public enum LACredentialType: Int, Sendable {
    /// The password of an item, from which its key is derived.
    case applicationPassword = 0
    /// The passcode of the vault, for which iOS itself prompts; a wrong one is counted.
    case devicePasscode = 1000

    /// The corresponding factor of the protocol.
    var factor: AuthenticationFactor { self == .applicationPassword ? .applicationPassword : .passcode }
}
