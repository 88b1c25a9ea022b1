internal import CofferCore
public import Foundation

// Foundation's own methods accept a protection and ignore it. With this library, two methods match such a call, so that
// it is ambiguous and does not compile.

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

/// The result of a call that would protect nothing: its only purpose is to make that call ambiguous.
public struct NothingIsProtected: Sendable {
    fileprivate init() {}
}

// Where only one of the two methods has the type that is expected, the compiler warns.

extension Foundation.FileManager {
    /// Never called: it makes a call with a protection ambiguous.
    @available(*, deprecated, message: "protects nothing: only CofferFileManager protects files")
    public func setAttributes(
        _ attributes: [FileAttributeKey: FileProtectionType],
        ofItemAtPath path: String
    ) throws {
        throw CocoaError(unsupported: "protect a file that is not", at: path)
    }

    /// Never called: it makes a call with a protection ambiguous.
    @available(*, deprecated, message: "protects nothing: only CofferFileManager protects files")
    @discardableResult
    public func setAttributes(
        _ attributes: [FileAttributeKey: FileProtectionType],
        ofItemAtPath path: String
    ) throws -> NothingIsProtected {
        throw CocoaError(unsupported: "protect a file that is not", at: path)
    }

    /// Never called: it makes a call with a protection ambiguous.
    @available(*, deprecated, message: "protects nothing: only CofferFileManager protects directories")
    public func createDirectory(
        at url: Foundation.URL,
        withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: FileProtectionType]
    ) throws {
        throw CocoaError(unsupported: "protect a directory that is not", at: url.path)
    }

    /// Never called: it makes a call with a protection ambiguous.
    @available(*, deprecated, message: "protects nothing: only CofferFileManager protects directories")
    @discardableResult
    public func createDirectory(
        at url: Foundation.URL,
        withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: FileProtectionType]
    ) throws -> NothingIsProtected {
        throw CocoaError(unsupported: "protect a directory that is not", at: url.path)
    }

    /// Never called: it makes a call with a protection ambiguous.
    @available(*, deprecated, message: "protects nothing: only CofferFileManager protects directories")
    public func createDirectory(
        atPath path: String,
        withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: FileProtectionType]
    ) throws {
        throw CocoaError(unsupported: "protect a directory that is not", at: path)
    }

    /// Never called: it makes a call with a protection ambiguous.
    @available(*, deprecated, message: "protects nothing: only CofferFileManager protects directories")
    @discardableResult
    public func createDirectory(
        atPath path: String,
        withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: FileProtectionType]
    ) throws -> NothingIsProtected {
        throw CocoaError(unsupported: "protect a directory that is not", at: path)
    }

    /// Creates nothing: it makes a call with a protection ambiguous.
    @available(*, deprecated, message: "protects nothing: only CofferFileManager protects files")
    @discardableResult
    public func createFile(
        atPath path: String,
        contents data: Data?,
        attributes: [FileAttributeKey: FileProtectionType]
    ) -> Bool { false }

    /// Creates nothing: it makes a call with a protection ambiguous.
    @available(*, deprecated, message: "protects nothing: only CofferFileManager protects files")
    @discardableResult
    public func createFile(
        atPath path: String,
        contents data: Data?,
        attributes: [FileAttributeKey: FileProtectionType]
    ) -> NothingIsProtected { NothingIsProtected() }
}
