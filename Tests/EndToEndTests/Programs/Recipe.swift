import CofferTestSupport
import Foundation
import Testing

/// The blocks of `proto-docs/PROGRAMS.md`, which the tests run as they stand there.
enum Recipe {
    /// A block below a heading, the first one unless said otherwise.
    static func block(_ number: Int = 1, of heading: String) throws -> String {
        let page = try String(contentsOfFile: "\(Project.root)/proto-docs/PROGRAMS.md", encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
        let own = try #require(section.components(separatedBy: "\n## ").first)
        let parts = own.components(separatedBy: "\n```")
        let block = try #require(parts.count > 2 * number - 1 ? parts[2 * number - 1] : nil)
        // The first line has the language, if there is one.
        return String(block.drop { $0 != "\n" }.dropFirst())
    }
}

/// A program that Debian has not, has too old, or has as a large package only: where it is not installed, its tests say so.
struct InstalledProgram {
    static let cargo = InstalledProgram("cargo")
    static let docker = InstalledProgram("docker")
    static let aws = InstalledProgram("aws")
    static let kubectl = InstalledProgram("kubectl")
    static let pip = InstalledProgram("pip")
    static let npm = InstalledProgram("npm")
    static let uv = InstalledProgram("uv")

    /// The folder that the program is in; `nil` if it is not installed.
    let folder: String?

    private init(_ name: String) {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        folder = path.split(separator: ":").map(String.init).first { access("\($0)/\(name)", X_OK) == 0 }
    }

    var isInstalled: Bool { folder != nil }

    /// Whether a line of bash succeeds with the program.
    func can(_ line: String) -> Bool {
        isInstalled && (try? runCommand("/bin/bash", ["-c", line], environment: environment()))?.status == 0
    }

    /// The variables with which it is found, also if it is one that a manager of versions has installed.
    ///
    /// - Parameter links: A folder that comes before that of the program.
    func environment(after links: String? = nil) -> [String: String] {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
        let path = [links, folder, "/usr/sbin:/usr/bin:/sbin:/bin"].compactMap(\.self).joined(separator: ":")
        return ["PATH": path, "RUSTUP_HOME": "\(home)/.rustup", "PYENV_ROOT": "\(home)/.pyenv"]
    }
}
