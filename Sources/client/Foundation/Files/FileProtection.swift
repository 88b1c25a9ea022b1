package import CofferCore
public import Foundation

extension FileProtectionType {
    /// Class CX, which Foundation does not have on Linux.
    public static let completeWhenUserInactive = FileProtectionType(
        rawValue: "NSFileProtectionCompleteWhenUserInactive"
    )

    /// The type for a class.
    ///
    /// - Parameter protectionClass: The class.
    package init(_ protectionClass: ProtectionClass) {
        switch protectionClass {
        case .complete: self = .complete
        case .completeUnlessOpen: self = .completeUnlessOpen
        case .completeUntilFirstUserAuthentication: self = .completeUntilFirstUserAuthentication
        case .completeWhenUserInactive: self = .completeWhenUserInactive
        case .none: self = .none
        }
    }

    /// The class for the type.
    ///
    /// - Throws: `param` if there is none.
    var protectionClass: ProtectionClass {
        get throws(CofferError) {
            guard let match = ProtectionClass.allCases.first(where: { FileProtectionType($0) == self }) else {
                throw CofferError(.param, "\(quotedForDisplay(rawValue)) is no file protection type")
            }
            return match
        }
    }
}

/// Matches a type in a `switch`: on Linux, Foundation's type is not `Equatable`.
public func ~= (pattern: FileProtectionType, type: FileProtectionType) -> Bool { pattern.rawValue == type.rawValue }

/// Compares two optional types.
public func == (one: FileProtectionType?, other: FileProtectionType?) -> Bool { one?.rawValue == other?.rawValue }

extension Data.WritingOptions {
    /// Class CX, which Foundation does not have on Linux.
    public static let completeFileProtectionWhenUserInactive = Data.WritingOptions(rawValue: 5 << 28)

    private static let classes: [(options: Data.WritingOptions, protectionClass: ProtectionClass)] = [
        (.noFileProtection, .none), (.completeFileProtection, .complete),
        (.completeFileProtectionUnlessOpen, .completeUnlessOpen),
        (.completeFileProtectionUntilFirstUserAuthentication, .completeUntilFirstUserAuthentication),
        (.completeFileProtectionWhenUserInactive, .completeWhenUserInactive),
    ]

    /// The options for a class.
    ///
    /// - Parameter protectionClass: The class.
    package init(_ protectionClass: ProtectionClass) {
        self = Self.classes.first { $0.protectionClass == protectionClass }?.options ?? []
    }

    /// The class that the options set; `nil` if they set none.
    ///
    /// The protection is a number in four of the bits, not one bit per class.
    ///
    /// - Throws: `param` if the number stands for no class.
    var protectionClass: ProtectionClass? {
        get throws(CofferError) {
            let bits = intersection(.fileProtectionMask)
            if bits.isEmpty { return nil }
            guard let match = Self.classes.first(where: { $0.options == bits }) else {
                throw CofferError(.param, "the writing options name several file protections", hint: "name one of them")
            }
            return match.protectionClass
        }
    }
}

/// The protection of a file as a resource value, with the names of Foundation on iOS.
public struct URLFileProtection: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// Makes a value from its name.
    ///
    /// - Parameter rawValue: The name.
    public init(rawValue: String) { self.rawValue = rawValue }

    private init(_ type: FileProtectionType) { self.init(rawValue: type.rawValue) }

    /// Class A.
    public static let complete = URLFileProtection(.complete)
    /// Class B.
    public static let completeUnlessOpen = URLFileProtection(.completeUnlessOpen)
    /// Class C.
    public static let completeUntilFirstUserAuthentication = URLFileProtection(.completeUntilFirstUserAuthentication)
    /// Class CX.
    public static let completeWhenUserInactive = URLFileProtection(.completeWhenUserInactive)
    /// Class D.
    public static let none = URLFileProtection(FileProtectionType.none)
}

extension URLResourceKey {
    /// The protection of a file, or of the new files in a directory: a ``URLFileProtection``.
    public static let fileProtectionKey = URLResourceKey(rawValue: "NSURLFileProtectionKey")
}

/// The result of ``CofferURL/resourceValues(forKeys:)`` and the argument of
/// ``CofferURL/setResourceValues(_:)``.
public struct CofferURLResourceValues: Sendable {
    /// The protection; for a directory that of new files in it, or `nil` if it inherits that of its parents.
    public var fileProtection: URLFileProtection?
    /// The size of a file in bytes.
    public internal(set) var fileSize: Int?
    /// Whether it is a directory.
    public internal(set) var isDirectory: Bool?
    /// Whether it is a file.
    public internal(set) var isRegularFile: Bool?
    /// When it was created.
    public internal(set) var creationDate: Date?
    /// The time of the last change of its content or class.
    public internal(set) var contentModificationDate: Date?

    /// Makes an empty set of values.
    public init() {}
}

extension CofferURL {
    /// Reads resource values.
    ///
    /// - Parameter keys: The values to read.
    /// - Throws: `CocoaError`: `featureUnsupported` for a key that Coffer does not have.
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> CofferURLResourceValues {
        let attributes = try CofferFileManager.default.attributesOfItem(atPath: path)
        let isDirectory = attributes[.type] as? FileAttributeType == .typeDirectory
        var values = CofferURLResourceValues()
        for key in keys {
            switch key {
            case .fileProtectionKey:
                let type = attributes[.protectionKey] as? FileProtectionType
                values.fileProtection = type.map { URLFileProtection(rawValue: $0.rawValue) }
            case .fileSizeKey: values.fileSize = isDirectory ? nil : (attributes[.size] as? NSNumber)?.intValue
            case .isDirectoryKey: values.isDirectory = isDirectory
            case .isRegularFileKey: values.isRegularFile = !isDirectory
            case .creationDateKey: values.creationDate = attributes[.creationDate] as? Date
            case .contentModificationDateKey:
                values.contentModificationDate = attributes[.modificationDate] as? Date
            default: throw CocoaError(unsupported: "read \(quotedForDisplay(key.rawValue))", at: path)
            }
        }
        return values
    }

    /// Sets the protection, if the values include one.
    ///
    /// - Parameter values: The values.
    /// - Throws: `CocoaError`.
    public mutating func setResourceValues(_ values: CofferURLResourceValues) throws {
        guard let protection = values.fileProtection else { return }
        try setResourceValue(protection, forKey: .fileProtectionKey)
    }

    /// Sets a resource value, as in `NSURL`.
    ///
    /// - Parameters:
    ///   - value: A ``URLFileProtection``.
    ///   - key: `fileProtectionKey`; every other key is an error.
    /// - Throws: `CocoaError`.
    public func setResourceValue(_ value: Any?, forKey key: URLResourceKey) throws {
        guard key == .fileProtectionKey, let protection = value as? URLFileProtection else {
            throw CocoaError(unsupported: "set \(quotedForDisplay(key.rawValue)) to such a value", at: path)
        }
        try CofferFileManager.default.setAttributes(
            [.protectionKey: FileProtectionType(rawValue: protection.rawValue)],
            ofItemAtPath: path
        )
    }
}
