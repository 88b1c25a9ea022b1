import Foundation

/// A plot as SVG, with logarithmic axes, readable on light and dark pages.
struct PlotDrawing {
    private static let width = 760.0
    private static let height = 330.0
    private static let plotTop = 84.0
    private static let plotBottom = 270.0
    private static let left = 62.0
    private static let gap = 28.0

    private let plot: Plot
    private let vertical: LogarithmicAxis
    private let horizontal: LogarithmicAxis
    private var parts: [String] = []

    /// The SVG document.
    var text: String { parts.joined(separator: "\n") + "\n" }

    init(_ plot: Plot) {
        self.plot = plot
        let points = plot.panels.flatMap(\.curves).flatMap(\.points)
        vertical = LogarithmicAxis(points.map(\.y), from: Self.plotBottom, to: Self.plotTop)
        horizontal = LogarithmicAxis(points.map(\.x), from: 0, to: Self.panelWidth(plot.panels.count))
        begin()
        drawLegend()
        for (place, panel) in plot.panels.enumerated() { draw(panel, at: place) }
        parts.append("</svg>")
    }

    private static func panelWidth(_ count: Int) -> Double {
        let spare = Double(max(count, 1) - 1) * gap
        return (width - left - 16 - spare) / Double(max(count, 1))
    }

    // MARK: The frame

    // The curves differ by their dashes as well, for those who see no colours and for print.
    private static let style = """
        <style>
        text { font: 12px system-ui, sans-serif; fill: #24292f }
        .title { font-size: 15px; font-weight: 600 }
        .head { font-weight: 600 }
        .grid { stroke: #d0d7de; stroke-width: 1 }
        .curve { fill: none; stroke-width: 2.25 }
        .coffer { stroke: #0969da } .C, .cipher { stroke: #6e7781; stroke-dasharray: 6 4 }
        .age, .gnome-keyring { stroke: #bc4c00; stroke-dasharray: 2 3 } .copy { stroke: #1a7f37; stroke-dasharray: 9 3 2 3 }
        .dot { stroke-dasharray: none; fill: #ffffff }
        @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 }
        .grid { stroke: #373e47 }
        .coffer { stroke: #58a6ff } .C, .cipher { stroke: #9198a1 }
        .age, .gnome-keyring { stroke: #f0883e } .copy { stroke: #56d364 }
        .dot { fill: #0d1117 }
        }
        </style>
        """

    private mutating func begin() {
        let (width, height) = (Self.width.formatted(0), Self.height.formatted(0))
        parts.append(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" width=\"\(width)\" "
                + "height=\"\(height)\" role=\"img\">"
        )
        parts.append("<title>\(Self.escaped(plot.title))</title>")
        parts.append(Self.style)
        write(plot.title, 16, 24, "title")
        write(plot.verticalTitle, 16, Self.plotTop - 14)
    }

    private mutating func drawLegend() {
        var names: [String] = []
        var place = 16.0
        for curve in plot.panels.flatMap(\.curves) where !names.contains(curve.name) {
            names.append(curve.name)
            line((place, 42), (place + 28, 42), "curve \(curve.side.rawValue)")
            write(curve.name, place + 34, 46)
            place += 34 + 7 * Double(curve.name.count) + 22
        }
    }

    // MARK: A panel

    private mutating func draw(_ panel: PlotPanel, at place: Int) {
        let width = Self.panelWidth(plot.panels.count)
        let start = Self.left + Double(place) * (width + Self.gap)
        write(panel.title, start + width / 2, Self.plotTop - 14, "head", anchor: "middle")
        for tick in vertical.roundTicks {
            let y = vertical.place(of: tick)
            line((start, y), (start + width, y), "grid")
            if place == 0 { write(Int(tick.rounded()).grouped, start - 8, y + 4, anchor: "end") }
        }
        for tick in Set(panel.curves.flatMap(\.points).map(\.x)).sorted() {
            let x = start + horizontal.place(of: tick)
            line((x, Self.plotBottom), (x, Self.plotBottom + 5), "grid")
            let isSize = plot.horizontalTitle.contains("size")
            write(isSize ? Int(tick).asBytes : Int(tick).grouped, x, Self.plotBottom + 20, anchor: "middle")
        }
        write(plot.horizontalTitle, start + width / 2, Self.plotBottom + 42, anchor: "middle")
        // Coffer's curve lies on top.
        for curve in panel.curves.reversed() { draw(curve, from: start) }
    }

    private mutating func draw(_ curve: PlotCurve, from start: Double) {
        let places = curve.points.map { (start + horizontal.place(of: $0.x), vertical.place(of: $0.y)) }
        let path = places.map { "\($0.0.formatted(1)),\($0.1.formatted(1))" }.joined(separator: " ")
        parts.append("<polyline class=\"curve \(curve.side.rawValue)\" points=\"\(path)\"/>")
        for (x, y) in places {
            parts.append(
                "<circle class=\"curve dot \(curve.side.rawValue)\" cx=\"\(x.formatted(1))\" cy=\"\(y.formatted(1))\" r=\"3\"/>"
            )
        }
    }

    // MARK: Elements

    private mutating func write(
        _ text: String,
        _ x: Double,
        _ y: Double,
        _ style: String? = nil,
        anchor: String = "start"
    ) {
        let style = style.map { " class=\"\($0)\"" } ?? ""
        parts.append(
            "<text\(style) x=\"\(x.formatted(1))\" y=\"\(y.formatted(1))\" text-anchor=\"\(anchor)\">"
                + "\(Self.escaped(text))</text>"
        )
    }

    private mutating func line(_ start: (Double, Double), _ end: (Double, Double), _ style: String) {
        parts.append(
            "<line class=\"\(style)\" x1=\"\(start.0.formatted(1))\" y1=\"\(start.1.formatted(1))\" "
                + "x2=\"\(end.0.formatted(1))\" y2=\"\(end.1.formatted(1))\"/>"
        )
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}

/// A logarithmic axis, with some room at both ends.
private struct LogarithmicAxis {
    private static let room = 0.06

    private let lowest: Double
    private let highest: Double
    private let start: Double
    private let end: Double

    init(_ values: [Double], from start: Double, to end: Double) {
        let (least, most) = (log10(values.min() ?? 1), log10(values.max() ?? 10))
        let margin = max(most - least, 0.3) * Self.room
        (lowest, highest) = (least - margin, most + margin)
        (self.start, self.end) = (start, end)
    }

    func place(of value: Double) -> Double {
        start + (log10(value) - lowest) / (highest - lowest) * (end - start)
    }

    /// The powers of ten on the axis, and where those are few, their doubles and halves.
    var roundTicks: [Double] {
        let powers = Int(lowest.rounded(.down))...Int(highest.rounded(.up))
        func ticks(_ factors: [Double]) -> [Double] {
            powers.flatMap { power in factors.map { $0 * pow(10, Double(power)) } }
                .filter { (lowest...highest).contains(log10($0)) }
        }
        return highest - lowest > 2.5 ? ticks([1]) : ticks([1, 2, 5])
    }
}
