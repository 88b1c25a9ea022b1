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

/// The directory of the user's data: `$XDG_DATA_HOME`, or `$HOME/.local/share`; `nil` if neither is set.
package var dataHome: String? { environment("XDG_DATA_HOME") ?? environment("HOME").map { $0 + "/.local/share" } }

/// The directories of the machine's data, in the order in which they are searched.
package var dataDirectories: [String] {
    (environment("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
}
