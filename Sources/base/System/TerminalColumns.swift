internal import CCofferShims
internal import Glibc

extension StringProtocol {
    /// How many columns of a terminal the text takes: two for a wide character, none for a combining mark.
    package var columnCount: Int {
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
        _ = hasUnicodeLocale
        return unicodeScalars.reduce(0) { $0 + Int(Swift.max(0, coffer_column_count($1.value))) }
    }
}

/// Whether the C library knows the widths of all characters: the locale of a program is that of ASCII until it is set.
private let hasUnicodeLocale = unsafe setlocale(LC_CTYPE, "C.UTF-8") != nil

/// The number of columns of the terminal that a descriptor is; `nil` if it does not say.
package func terminalColumnCount(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}
