import Foundation

/// The files of this repository.
enum Repository {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A Swift source, as lines.
    struct Source {
        /// Relative to the root.
        let path: String
        let lines: [Substring]
    }

    /// Every Swift source under a folder, by its path from the root.
    static func sources(under folder: String) throws -> [Source] {
        let base = root.appending(path: folder)
        let names = try FileManager.default.subpathsOfDirectory(atPath: base.path).filter { $0.hasSuffix(".swift") }
        return try names.sorted().map { name in
            let text = try String(contentsOf: base.appending(path: name), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            return Source(path: "\(folder)/\(name)", lines: lines)
        }
    }

    /// The folders of `Sources`.
    static func rooms() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path).sorted()
    }

    /// The folders of `Sources` that hold Swift.
    static func swiftRooms() throws -> [String] { try rooms().filter { try !sources(under: "Sources/\($0)").isEmpty } }
}

extension Substring {
    /// The line without its comment, so that a comment may contain what code may not.
    var withoutComment: Substring { range(of: "//").map { self[..<$0.lowerBound] } ?? self }
}
