internal import CofferCore
internal import CofferSystem

/// Shows the progress of a transfer, its rate and the time left, on a terminal, after half a second.
final class ProgressBar {
    private static let delay: UInt64 = 500_000_000

    private let start = BootClock.system.now
    private var isShown = false

    /// Makes a bar.
    ///
    /// - Returns: `nil` if standard error is not a terminal.
    init?() { if !Output.standardError.isTerminal { return nil } }

    /// Shows a state of the transfer.
    func update(_ done: Int64, of total: Int64?) { show { Self.text(done, total, seconds: $0) } }

    /// Shows a text.
    ///
    /// - Parameter text: Makes the text; gets the seconds so far.
    func show(_ text: (_ seconds: Double) -> String) {
        let elapsed = BootClock.system.now - start
        guard elapsed >= Self.delay else { return }
        isShown = true
        Output.standardError.write("\r\u{1B}[K\(text(Double(elapsed) / 1e9))")
    }

    /// Removes the bar.
    func finish() {
        if isShown { Output.standardError.write("\r\u{1B}[K") }
        isShown = false
    }

    /// The text of the bar, such as `512 MiB of 2.0 GiB (25 %), 400 MiB/s, 4 s left`.
    private static func text(_ done: Int64, _ total: Int64?, seconds: Double) -> String {
        let rate = Double(done) / max(seconds, 0.001)
        let speed = "\(ByteCount.text(Int64(rate)))/s"
        guard let total, total > 0 else { return "\(ByteCount.text(done)), \(speed)" }
        let percent = done * 100 / total
        let left = rate > 0 ? Int((Double(total - done) / rate).rounded(.up)) : 0
        return "\(ByteCount.text(done)) of \(ByteCount.text(total)) (\(percent) %), \(speed), \(left) s left"
    }
}

/// Formats numbers of bytes.
enum ByteCount {
    /// At most three digits and a binary unit, such as `64 MiB`.
    static func text(_ count: Int64) -> String {
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
