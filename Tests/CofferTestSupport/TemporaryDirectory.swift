package import Foundation

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
        let path = appending(name)
        try Data(bytes).write(to: URL(filePath: path))
        // As the vault does it: for its owner only.
        guard chmod(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        return path
    }

    /// The path of something inside.
    package func path(_ name: String) -> String { appending(name) }

    /// What a file inside holds; `nil` where there is none.
    package func contents(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: appending(name)).map { Array($0) }
    }

    /// Writes a file inside with a mode of its own.
    package func write(_ bytes: [UInt8], to name: String, mode: mode_t) throws {
        guard chmod(try write(bytes, to: name), mode) == 0 else { throw POSIXError(.EIO) }
    }

    /// Removes a file inside.
    package func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: appending(name)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Where the project's files are.
package enum Project {
    /// The folder that holds Package.swift; what ``variable`` says where the tests run on a machine that does not have it.
    package static let root =
        ProcessInfo.processInfo.environment[variable]
        ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The variable of the environment that names another folder.
    package static let variable = "COFFER_PROJECT"

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
