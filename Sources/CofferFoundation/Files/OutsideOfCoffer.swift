internal import CofferCore
public import Foundation

// Foundation's own `write(to:options:)` accepts a protection for a `URL` and ignores it. With this library,
// two methods match such a call, so that it is ambiguous and does not compile.

/// A file protection for a `URL`: its only purpose is to make such a call ambiguous.
///
/// `.atomic` alone still selects Foundation's method; in an array it is ambiguous as well, because a
/// protection may follow.
public struct FileProtectionOutsideOfCoffer: ExpressibleByArrayLiteral, Sendable {
    /// An element of the array.
    public struct Option: Sendable {
        private init() {}

        /// Class A, which only a ``CofferURL`` has.
        public static let completeFileProtection = Option()
        /// Class B, which only a ``CofferURL`` has.
        public static let completeFileProtectionUnlessOpen = Option()
        /// Class C, which only a ``CofferURL`` has.
        public static let completeFileProtectionUntilFirstUserAuthentication = Option()
        /// An option that may be combined with a protection.
        public static let atomic = Option()
        /// An option that may be combined with a protection.
        public static let withoutOverwriting = Option()
    }

    private init() {}

    /// Never called.
    public init(arrayLiteral options: Option...) {}

    /// Class A, which only a ``CofferURL`` has.
    public static let completeFileProtection = FileProtectionOutsideOfCoffer()
    /// Class B, which only a ``CofferURL`` has.
    public static let completeFileProtectionUnlessOpen = FileProtectionOutsideOfCoffer()
    /// Class C, which only a ``CofferURL`` has.
    public static let completeFileProtectionUntilFirstUserAuthentication = FileProtectionOutsideOfCoffer()
}

extension Data {
    /// Never called: it makes a call with a protection for a `URL` ambiguous.
    ///
    /// - Parameters:
    ///   - url: A place outside Coffer.
    ///   - options: A protection.
    /// - Throws: `featureUnsupported`.
    public func write(to url: URL, options: FileProtectionOutsideOfCoffer) throws {
        throw CocoaError(unsupported: "protect a file that is not", at: url.path)
    }
}
