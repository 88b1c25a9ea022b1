internal import CofferCore

/// Where a pinentry shows itself.
package struct PinentryScreen: Sendable {
    /// The options that say so.
    package let options: [String]
    /// Whether there is a display or a terminal.
    package let isThere: Bool

    /// Reads where that is from the environment, as gpg-agent does.
    ///
    /// - Parameter variable: Returns the value of a variable.
    package init(_ variable: (String) -> String?) {
        isThere = ["DISPLAY", "WAYLAND_DISPLAY", "GPG_TTY"].contains { variable($0)?.isEmpty == false }
        let locale = variable("LC_ALL")
        let values = [
            ("ttyname", variable("GPG_TTY")), ("ttytype", variable("TERM")), ("display", variable("DISPLAY")),
            ("lc-ctype", locale ?? variable("LC_CTYPE") ?? variable("LANG")),
            ("lc-messages", locale ?? variable("LC_MESSAGES") ?? variable("LANG")),
        ]
        options = values.compactMap { name, value in
            guard let value, Self.isPlain(value) else { return nil }
            return "OPTION \(name)=\(value)"
        }
    }

    /// Whether a value can be sent: an option is not unescaped.
    private static func isPlain(_ value: String) -> Bool {
        (1...Limits.pinentryOptionBytes).contains(value.utf8.count) && !value.unicodeScalars.contains(where: \.isUnseen)
    }

    /// The option for the window of a caller, if that is one of X11: by its number, or as a portal names it.
    package static func option(forWindow windowID: String) -> String? {
        let prefix = "x11:"
        let number =
            windowID.hasPrefix(prefix) ? UInt32(windowID.dropFirst(prefix.count), radix: 16) : UInt32(windowID)
        return number.map { "OPTION parent-wid=\($0)" }
    }
}
