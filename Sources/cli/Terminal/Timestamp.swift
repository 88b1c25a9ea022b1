internal import Glibc

/// Formats dates.
package enum Timestamp {
    /// The local time and its zone, such as `2026-11-21 05:36:59 CET`.
    package static func text(_ milliseconds: Int64) -> String { text(milliseconds, "%Y-%m-%d %H:%M:%S %Z") }

    /// The local time to the minute, for a column of them.
    package static func minutes(_ milliseconds: Int64) -> String { text(milliseconds, "%Y-%m-%d %H:%M") }

    /// The local day.
    package static func day(_ milliseconds: Int64) -> String { text(milliseconds, "%Y-%m-%d") }

    private static func text(_ milliseconds: Int64, _ format: String) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = unsafe tm()
        unsafe localtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = unsafe strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
