internal import CofferCore
public import Foundation

// Foundation's own `write(to:options:)` takes a protection for a `URL`, and protects nothing. Where this library is imported
// there are two methods that would take it: the call is ambiguous, and does not compile.

/// A protection that nobody gives: what makes the compiler stop where Foundation would be asked for one.
///
/// `.atomic` alone still means Foundation's; in an array it is ambiguous, too, because a protection may stand beside it.
public struct FileProtectionOutsideOfCoffer: ExpressibleByArrayLiteral, Sendable {
    /// What may stand in the array.
    public struct Option: Sendable {
        private init() {}

        /// Class A, which only a ``CofferURL`` has.
        public static let completeFileProtection = Option()
        /// Class B, which only a ``CofferURL`` has.
        public static let completeFileProtectionUnlessOpen = Option()
        /// Class C, which only a ``CofferURL`` has.
        public static let completeFileProtectionUntilFirstUserAuthentication = Option()
        /// What stands beside a protection.
        public static let atomic = Option()
        /// What stands beside a protection.
        public static let withoutOverwriting = Option()
    }

    private init() {}

    /// Never chosen.
    public init(arrayLiteral options: Option...) {}

    /// Class A, which only a ``CofferURL`` has.
    public static let completeFileProtection = FileProtectionOutsideOfCoffer()
    /// Class B, which only a ``CofferURL`` has.
    public static let completeFileProtectionUnlessOpen = FileProtectionOutsideOfCoffer()
    /// Class C, which only a ``CofferURL`` has.
    public static let completeFileProtectionUntilFirstUserAuthentication = FileProtectionOutsideOfCoffer()
}

extension Data {
    /// Never chosen: with it, a call that asks Foundation for a protection does not compile.
    ///
    /// - Parameters:
    ///   - url: A place outside of Coffer.
    ///   - options: A protection.
    /// - Throws: `featureUnsupported`.
    public func write(to url: URL, options: FileProtectionOutsideOfCoffer) throws {
        throw CocoaError(unsupported: "protect a file that is not", at: url.path)
    }
}
