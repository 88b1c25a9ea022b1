internal import CofferCore
internal import Foundation

/// The place of a file or a directory in Coffer's file store.
///
/// It is not a `URL`, so that it can't be passed to methods of Foundation, which protect nothing, nor a `URL`
/// to the methods of this library. Ported code declares `typealias URL = CofferURL` once.
public struct CofferURL: Hashable, Sendable, CustomStringConvertible {
    /// The path from the root of the file store: a slash, and the name in `coffer`.
    public let path: String

    /// Makes a URL from a path.
    ///
    /// - Parameter path: The path; without a leading slash, it is relative to the root.
    public init(fileURLWithPath path: String) {
        self.path =
            "/" + path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.joined(separator: "/")
    }

    /// Makes a URL from a path.
    ///
    /// - Parameters:
    ///   - path: The path; without a leading slash, it is relative to the root.
    ///   - isDirectory: Ignored.
    public init(fileURLWithPath path: String, isDirectory: Bool) { self.init(fileURLWithPath: path) }

    /// Makes a URL from a path.
    ///
    /// - Parameter path: The path; without a leading slash, it is relative to the root.
    public init(filePath path: String) { self.init(fileURLWithPath: path) }

    /// The last component of the path; a slash for the root.
    public var lastPathComponent: String { components.last.map(String.init) ?? "/" }

    /// The part of the last component after its last dot.
    public var pathExtension: String { NSString(string: path).pathExtension }

    /// The URL as text, with the scheme `coffer`.
    public var absoluteString: String {
        var parts = URLComponents()
        (parts.scheme, parts.host, parts.path) = ("coffer", "", path)
        return parts.string ?? "coffer://"
    }

    /// The URL as text.
    public var description: String { absoluteString }

    /// Appends a relative path.
    ///
    /// - Parameter component: The path.
    public func appendingPathComponent(_ component: String) -> CofferURL {
        CofferURL(fileURLWithPath: "\(path)/\(component)")
    }

    /// Appends a relative path.
    ///
    /// - Parameters:
    ///   - component: The path.
    ///   - isDirectory: Ignored.
    public func appendingPathComponent(_ component: String, isDirectory: Bool) -> CofferURL {
        appendingPathComponent(component)
    }

    /// Appends a relative path.
    ///
    /// - Parameter path: The path.
    public func appending(path: String) -> CofferURL { appendingPathComponent(path) }

    /// Appends a relative path.
    ///
    /// - Parameter component: The path.
    public func appending(component: String) -> CofferURL { appendingPathComponent(component) }

    /// Appends a dot and an extension.
    ///
    /// - Parameter pathExtension: The extension.
    public func appendingPathExtension(_ pathExtension: String) -> CofferURL {
        CofferURL(fileURLWithPath: "\(path).\(pathExtension)")
    }

    /// The parent directory; the root for the root.
    public func deletingLastPathComponent() -> CofferURL {
        CofferURL(fileURLWithPath: components.dropLast().joined(separator: "/"))
    }

    /// Checks that the file or the directory exists.
    ///
    /// - Returns: `true`.
    /// - Throws: `CocoaError`: `fileReadNoSuchFile` if it does not exist.
    public func checkResourceIsReachable() throws -> Bool {
        _ = try CofferFileManager.default.attributesOfItem(atPath: path)
        return true
    }

    /// Whether it is the root, which always exists and has no name.
    var isRoot: Bool { path == "/" }

    /// The name in the file store.
    ///
    /// - Throws: `param` if it is not a valid name.
    var itemName: ItemName {
        get throws(CofferError) { try ItemName(String(path.dropFirst())) }
    }

    /// Whether a component below a directory begins with a dot.
    func isHidden(below directory: CofferURL) -> Bool {
        components.dropFirst(directory.components.count).contains { $0.utf8.first == UInt8(ascii: ".") }
    }

    private var components: [Substring] { path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) } }

    /// Compares bytes, as the file store does.
    public static func == (one: CofferURL, other: CofferURL) -> Bool { one.path.utf8.elementsEqual(other.path.utf8) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in path.utf8 { hasher.combine(byte) }
    }
}
