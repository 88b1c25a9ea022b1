import CofferCore
import Foundation

/// A plot of `proto-docs/PERFORMANCE.md`: panels side by side, with the same vertical axis.
struct Plot {
    let fileName: String
    let title: String
    let verticalTitle: String
    let horizontalTitle: String
    let panels: [PlotPanel]

    /// Writes the plots of kept figures.
    ///
    /// - Throws: `notAvailable` if there are no figures for any of them.
    static func write(_ figures: [Figure], to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let plots = [latency(figures), throughput(figures), files(figures)].filter { !$0.panels.isEmpty }
        if plots.isEmpty {
            throw CofferError(.notAvailable, "no figure of a plot is kept", hint: "keep those of keychain and files")
        }
        for plot in plots {
            let path = "\(directory)/\(plot.fileName)"
            try Data(PlotDrawing(plot).text.utf8).write(to: URL(filePath: path))
            print(path)
        }
    }
}

/// The curves of one operation.
struct PlotPanel {
    let title: String
    let curves: [PlotCurve]

    /// Selects the curves that have points, and `nil` if there are none of Coffer.
    init?(_ title: String, _ curves: [PlotCurve]) {
        guard curves.contains(where: { $0.side == .coffer && !$0.points.isEmpty }) else { return nil }
        self.title = title
        self.curves = curves.filter { !$0.points.isEmpty }
    }
}

/// One program's values.
struct PlotCurve {
    let name: String
    let side: Figure.Side
    let points: [(x: Double, y: Double)]

    /// - Parameters:
    ///   - name: The name in the legend.
    ///   - figures: All figures; the values of that name and program are the points.
    ///   - x: The horizontal place of a figure; `nil` if it is not in the plot.
    init(
        _ name: String,
        _ side: Figure.Side,
        _ what: String,
        in figures: [Figure],
        scale: Double,
        _ x: (Figure) -> Int?
    ) {
        self.name = name
        self.side = side
        points = figures.filter { $0.what == what && $0.of == side }
            .compactMap { figure in x(figure).map { (Double($0), figure.value * scale) } }.sorted { $0.0 < $1.0 }
    }
}

// MARK: - The plots

extension Plot {
    private static let equalName = "C daemon, the same work"

    private static func latency(_ figures: [Figure]) -> Plot {
        func curve(_ name: String, _ side: Figure.Side, _ what: String) -> PlotCurve {
            PlotCurve(name, side, what, in: figures, scale: 1e6) { ($0.clients ?? 1) == 1 ? $0.items : nil }
        }
        let get = PlotPanel(
            "item.get",
            [
                curve("Coffer", .coffer, "item.get latency"), curve(equalName, .equal, "item.get latency"),
                curve("gnome-keyring", .keyring, "keychain.find latency"),
            ]
        )
        let put = PlotPanel(
            "item.put, durable",
            [
                curve("Coffer", .coffer, "item.put latency"), curve(equalName, .equal, "item.put latency"),
                curve("gnome-keyring", .keyring, "add latency"),
            ]
        )
        return Plot(
            fileName: "latency.svg",
            title: "Latency of one client",
            verticalTitle: "µs, median",
            horizontalTitle: "items",
            panels: [get, put].compactMap(\.self)
        )
    }

    private static func throughput(_ figures: [Figure]) -> Plot {
        let sizes = Set(figures.filter { $0.what == "item.get rate" }.compactMap(\.items))
        let items = sizes.contains(10_000) ? 10_000 : sizes.min() ?? 0
        func panel(_ what: String, _ title: String) -> PlotPanel? {
            let curves = [("Coffer", Figure.Side.coffer), (equalName, .equal)].map { name, side in
                PlotCurve(name, side, "\(what) rate", in: figures, scale: 1) { $0.items == items ? $0.clients : nil }
            }
            return PlotPanel(title, curves)
        }
        return Plot(
            fileName: "throughput.svg",
            title: "Throughput at \(items.grouped) items",
            verticalTitle: "answers a second",
            horizontalTitle: "clients",
            panels: [panel("item.get", "item.get"), panel("item.put", "item.put, durable")].compactMap(\.self)
        )
    }

    private static func files(_ figures: [Figure]) -> Plot {
        func panel(_ what: String, _ title: String) -> PlotPanel? {
            let sides: [(String, Figure.Side)] = [
                ("Coffer", .coffer), ("the cipher alone", .cipher), ("age", .age), ("cp", .copy),
            ]
            return PlotPanel(
                title,
                sides.map { name, side in
                    PlotCurve(name, side, what, in: figures, scale: 1e-6) { $0.bytes }
                }
            )
        }
        return Plot(
            fileName: "files.svg",
            title: "Files on disk",
            verticalTitle: "MB/s",
            horizontalTitle: "size of the file",
            panels: [panel("put on disk", "put, synced"), panel("get on disk", "get")].compactMap(\.self)
        )
    }
}
