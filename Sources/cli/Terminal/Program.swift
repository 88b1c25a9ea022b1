internal import Glibc

/// Programs by name.
package enum Program {
    /// The path of a program in `$PATH`; `nil` if it is not installed.
    package static func path(_ name: String) -> String? {
        if name.contains("/") { return unsafe access(name, X_OK) == 0 ? name : nil }
        let folders = (environment("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
    }
}
