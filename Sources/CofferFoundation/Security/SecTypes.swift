internal import CofferCore
public import Foundation

// What Security has from CoreFoundation and C, as Swift on Linux has it: `query as CFDictionary` goes on working.

/// A dictionary of a keychain call.
public typealias CFDictionary = [String: Any]
/// What a keychain call gives: `var result: CFTypeRef?`.
public typealias CFTypeRef = Any
/// A text.
public typealias CFString = String
/// Bytes.
public typealias CFData = Data
/// A truth value.
public typealias CFBoolean = Bool
/// Why an access control could not be made.
public typealias CFError = NSError
/// What a keychain call came to.
public typealias OSStatus = Int32

/// True.
public let kCFBooleanTrue: CFBoolean? = true
/// False.
public let kCFBooleanFalse: CFBoolean? = false

/// What names an item, as `kSecReturnRef` gives it and `kSecValueRef` takes it.
public struct SecItemReference: Hashable, Sendable {
    let id: ItemID
    let itemClass: ItemClass
}

/// What has to be shown before the secret of an item is given out, and when it is there at all.
public struct SecAccessControl: Hashable, Sendable {
    let accessibility: Accessibility
    /// `nil` where nothing has to be shown.
    let control: AccessControl?
}

/// The words of an access control, with the values that they have on iOS.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// The flags of some bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The person is there: the passcode, as long as nothing else can tell.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    /// The passcode of the vault.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    /// One of the constraints is enough.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// All of the constraints have to be met.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// The private key may be used.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// A password of the item's own.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)

    private static let words: [(flag: SecAccessControlCreateFlags, word: AccessControl.Flag)] = [
        (.userPresence, .userPresence), (.devicePasscode, .devicePasscode), (.or, .or), (.and, .and),
        (.privateKeyUsage, .privateKeyUsage), (.applicationPassword, .applicationPassword),
    ]

    /// The words that the flags stand for.
    ///
    /// - Throws: `param` where Coffer has not one of them: it could not be asked for.
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
///   - allocator: Nothing.
///   - protection: When the item is there: a value of `kSecAttrAccessible`.
///   - flags: What has to be shown; nothing if there are none.
///   - error: Told why not.
/// - Returns: `nil` where Coffer has no such thing, biometry among them.
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

/// What is shown of the person behind the program, as `kSecUseAuthenticationContext` takes it.
///
/// It asks nobody: the program has to ask itself.
public final class LAContext: @unchecked Sendable {
    // Sendable: nothing but the dictionary changes, and that under the lock.
    private let lock = NSLock()
    private var credentials: [LACredentialType: Data] = [:]

    /// Shows nothing yet.
    public init() {}

    /// Keeps what is to be shown, in memory that nobody wipes.
    ///
    /// - Parameters:
    ///   - credential: The secret; `nil` takes it back.
    ///   - type: Which one it is.
    /// - Returns: `true`.
    @discardableResult public func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        lock.withLock { credentials[type] = credential }
        return true
    }

    /// Whether there is something to show.
    ///
    /// - Parameter type: Which one.
    public func isCredentialSet(_ type: LACredentialType) -> Bool { lock.withLock { credentials[type] != nil } }

    /// Shows nothing any more.
    public func invalidate() { lock.withLock { credentials = [:] } }

    /// What is to be shown.
    var shown: [LACredentialType: Data] { lock.withLock { credentials } }
}

/// What an ``LAContext`` shows.
public enum LACredentialType: Int, Sendable {
    /// The password of an item, which its key depends on.
    case applicationPassword = 0
    /// The passcode of the vault, which iOS asks for itself; a wrong one counts.
    case devicePasscode = 1000

    /// The name of the same thing on the wire.
    var factor: AuthenticationFactor { self == .applicationPassword ? .applicationPassword : .passcode }
}
