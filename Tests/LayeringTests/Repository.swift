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

    /// Every Swift source under a folder, which ends with a slash unless it is one of the top, by its path from the root.
    static func sources(under folder: String) throws -> [Source] {
        guard let top = folder.split(separator: "/").first, top != folder else {
            return try (folder == "Sources" ? own : tests).get()
        }
        return try sources(under: String(top)).filter { $0.path.hasPrefix(folder) }
    }

    // Read once: each rule looks at all of them.
    private static let own = Result { try read("Sources") }
    private static let tests = Result { try read("Tests") }

    private static func read(_ folder: String) throws -> [Source] {
        let base = root.appending(path: folder)
        let names = try FileManager.default.subpathsOfDirectory(atPath: base.path).filter { $0.hasSuffix(".swift") }
        return try names.sorted().map { name in
            let text = try String(contentsOf: base.appending(path: name), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            return Source(path: "\(folder)/\(name)", lines: lines)
        }
    }
}

extension Substring {
    /// The line without its comment, so that a comment may contain what code may not.
    var withoutComment: Substring {
        let slash = UInt8(ascii: "/")
        let start = zip(utf8.indices, zip(utf8, utf8.dropFirst())).first { $0.1 == (slash, slash) }
        return start.map { self[..<$0.0] } ?? self
    }
}
