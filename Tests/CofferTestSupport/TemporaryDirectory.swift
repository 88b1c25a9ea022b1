import Foundation

/// A directory that is gone when the value goes.
package final class TemporaryDirectory: Sendable {
    /// The path, without a symbolic link in it.
    package let path: String

    package init() throws {
        var template = Array("/tmp/coffer-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The path of something inside.
    package func appending(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file inside.
    ///
    /// - Returns: Its path.
    @discardableResult package func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: appending(name)))
        return appending(name)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Where the project's files are.
package enum Project {
    /// The folder that holds Package.swift.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The folder that holds the programs which were built together with the tests.
    package static let binaries: String = {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (own as NSString).deletingLastPathComponent
    }()
}

/// Bytes that look random and are the same in every run.
package func pseudoRandomBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
    }
}
