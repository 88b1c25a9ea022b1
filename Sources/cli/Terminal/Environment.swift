internal import Glibc

/// A variable of the environment; `nil` if it is unset or empty.
package func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
}

/// The directory of the user's configuration: `$XDG_CONFIG_HOME`, or `$HOME/.config`; `nil` if neither is
/// set.
package var configurationHome: String? { environment("XDG_CONFIG_HOME") ?? environment("HOME").map { $0 + "/.config" } }
