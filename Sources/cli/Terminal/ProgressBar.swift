internal import CofferCore
internal import CofferSystem

/// Shows the progress of a transfer, its rate and the time left, on a terminal, after half a second.
package final class ProgressBar {
    private let start = BootClock.system.now
    private var isShown = false

    /// Makes a bar.
    ///
    /// - Returns: `nil` if standard error is not a terminal.
    package init?() { if !Output.standardError.isTerminal { return nil } }

    /// Shows a state of the transfer.
    package func update(_ done: Int64, of total: Int64?) { show { Self.parts(done, total, seconds: $0) } }

    /// Shows as many parts of a text as fit on a line, separated by commas.
    ///
    /// - Parameter parts: Makes the parts, the most important one first; gets the seconds so far.
    package func show(_ parts: (_ seconds: Double) -> [String]) {
        let elapsed = BootClock.system.now - start
        guard elapsed >= Limits.progressBarNanoseconds else { return }
        isShown = true
        // In the last column, some terminals begin the next line.
        let width = (Output.standardError.columnCount ?? 80) - 1
        var line = ""
        for part in parts(Double(elapsed) / 1e9) {
            let longer = line.isEmpty ? part : "\(line), \(part)"
            if longer.columnCount > width { break }
            line = longer
        }
        Output.standardError.write("\r\u{1B}[K\(line)")
    }

    /// Removes the bar.
    package func finish() {
        if isShown { Output.standardError.write("\r\u{1B}[K") }
        isShown = false
    }

    /// The text of the bar, such as `25 %`, `512 MiB of 2.0 GiB`, `400 MiB/s`, `4 s left`.
    private static func parts(_ done: Int64, _ total: Int64?, seconds: Double) -> [String] {
        let rate = Double(done) / max(seconds, 0.001)
        let speed = "\(ByteCount.text(Int64(rate)))/s"
        guard let total, total > 0 else { return [ByteCount.text(done), speed] }
        let percent = done * 100 / total
        let left = rate > 0 ? Int((Double(total - done) / rate).rounded(.up)) : 0
        return ["\(percent) %", "\(ByteCount.text(done)) of \(ByteCount.text(total))", speed, "\(left) s left"]
    }
}

/// Formats numbers of bytes.
package enum ByteCount {
    /// At most three digits and a binary unit, such as `64 MiB`.
    package static func text(_ count: Int64) -> String {
        var value = Double(count)
        var unit = "B"
        for next in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 {
            value /= 1024
            unit = next
        }
        let isWhole = value >= 10 || value == value.rounded()
        let tenths = Int((value * 10).rounded())
        return isWhole ? "\(Int(value.rounded())) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
