internal import CofferCore
internal import Foundation

/// The place of a file or a directory in Coffer's file store.
///
/// It is no `URL`, so that nobody can give it to the methods of Foundation that protect nothing, or a `URL` to those that
/// are here. A program that is ported says `typealias URL = CofferURL` once.
public struct CofferURL: Hashable, Sendable, CustomStringConvertible {
    /// The path, from the root of the file store: a slash, and the name that `coffer` knows it by.
    public let path: String

    /// Names a place.
    ///
    /// - Parameter path: Its path; one that does not begin with a slash begins at the root, too.
    public init(fileURLWithPath path: String) {
        self.path =
            "/" + path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.joined(separator: "/")
    }

    /// Names a place.
    ///
    /// - Parameters:
    ///   - path: Its path; one that does not begin with a slash begins at the root, too.
    ///   - isDirectory: Whether it is a directory, which makes no difference here.
    public init(fileURLWithPath path: String, isDirectory: Bool) { self.init(fileURLWithPath: path) }

    /// Names a place.
    ///
    /// - Parameter path: Its path; one that does not begin with a slash begins at the root, too.
    public init(filePath path: String) { self.init(fileURLWithPath: path) }

    /// The last part of the path; a slash for the root.
    public var lastPathComponent: String { components.last.map(String.init) ?? "/" }

    /// What stands behind the last dot of the last part.
    public var pathExtension: String { NSString(string: path).pathExtension }

    /// The place as a text, with the scheme `coffer`.
    public var absoluteString: String {
        var parts = URLComponents()
        (parts.scheme, parts.host, parts.path) = ("coffer", "", path)
        return parts.string ?? "coffer://"
    }

    /// The place as a text.
    public var description: String { absoluteString }

    /// A place below this one.
    ///
    /// - Parameter component: Its path from here.
    public func appendingPathComponent(_ component: String) -> CofferURL {
        CofferURL(fileURLWithPath: "\(path)/\(component)")
    }

    /// A place below this one.
    ///
    /// - Parameters:
    ///   - component: Its path from here.
    ///   - isDirectory: Whether it is a directory, which makes no difference here.
    public func appendingPathComponent(_ component: String, isDirectory: Bool) -> CofferURL {
        appendingPathComponent(component)
    }

    /// A place below this one.
    ///
    /// - Parameter path: Its path from here.
    public func appending(path: String) -> CofferURL { appendingPathComponent(path) }

    /// A place below this one.
    ///
    /// - Parameter component: Its path from here.
    public func appending(component: String) -> CofferURL { appendingPathComponent(component) }

    /// The same place with something behind a dot.
    ///
    /// - Parameter pathExtension: What stands behind the dot.
    public func appendingPathExtension(_ pathExtension: String) -> CofferURL {
        CofferURL(fileURLWithPath: "\(path).\(pathExtension)")
    }

    /// The directory that it is in; the root for the root.
    public func deletingLastPathComponent() -> CofferURL {
        CofferURL(fileURLWithPath: components.dropLast().joined(separator: "/"))
    }

    /// Whether there is a file or a directory.
    ///
    /// - Returns: `true`.
    /// - Throws: `CocoaError`: `fileReadNoSuchFile` where there is none.
    public func checkResourceIsReachable() throws -> Bool {
        _ = try CofferFileManager.default.attributesOfItem(atPath: path)
        return true
    }

    /// Whether it is the root, which is always there, and has no name.
    var isRoot: Bool { path == "/" }

    /// The name that it has in the file store.
    ///
    /// - Throws: `param` where it can't be one.
    var itemName: ItemName {
        get throws(CofferError) { try ItemName(String(path.dropFirst())) }
    }

    /// Whether a part of the way from a directory to it begins with a dot.
    func isHidden(below directory: CofferURL) -> Bool {
        components.dropFirst(directory.components.count).contains { $0.utf8.first == UInt8(ascii: ".") }
    }

    private var components: [Substring] { path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) } }

    /// Whether the bytes are the same, as the file store tells names apart.
    public static func == (one: CofferURL, other: CofferURL) -> Bool { one.path.utf8.elementsEqual(other.path.utf8) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in path.utf8 { hasher.combine(byte) }
    }
}
