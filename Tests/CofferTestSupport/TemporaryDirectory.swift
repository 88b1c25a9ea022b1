package import Foundation

/// A directory that is removed with the value.
package final class TemporaryDirectory: Sendable {
    /// The path, without symbolic links.
    package let path: String

    package init() throws {
        var template = Array("/tmp/coffer-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The path of a file in the directory.
    package func appending(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file in the directory.
    ///
    /// - Returns: Its path.
    @discardableResult package func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        let path = appending(name)
        try Data(bytes).write(to: URL(filePath: path))
        // The mode of the vault's own files.
        guard chmod(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        return path
    }

    /// The path of a file in the directory.
    package func path(_ name: String) -> String { appending(name) }

    /// The content of a file in the directory; `nil` if it does not exist.
    package func contents(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: appending(name)).map { Array($0) }
    }

    /// Writes a file with a mode.
    package func write(_ bytes: [UInt8], to name: String, mode: mode_t) throws {
        guard chmod(try write(bytes, to: name), mode) == 0 else { throw POSIXError(.EIO) }
    }

    /// Removes a file in the directory.
    package func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: appending(name)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The paths of the project.
package enum Project {
    /// The directory of Package.swift, or that in ``variable`` on a machine without the sources.
    package static let root =
        ProcessInfo.processInfo.environment[variable]
        ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The environment variable with another directory.
    package static let variable = "COFFER_PROJECT"

    /// The directory of the programs under test: the environment variable `COFFER_BIN`, or those that were built with the tests.
    package static let binaries = ProcessInfo.processInfo.environment["COFFER_BIN"] ?? builtWithTests

    /// The directory of the tests themselves, and of what is built with them.
    package static let builtWithTests: String = {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (own as NSString).deletingLastPathComponent
    }()
}

/// Pseudorandom bytes that are equal in every run.
package func pseudoRandomBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
    }
}
