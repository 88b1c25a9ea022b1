import Foundation
import Synchronization

/// One measured value, which `packaging/bench --keep` writes as a line of JSON.
///
/// The names of its members and units, and those of figures that exist, stay as they are: `packaging/bench compare`
/// finds the same figure of two builds by them, and the targets and plots name them.
struct Figure: Codable {
    /// The unit of a value.
    enum Unit: String, Codable {
        case seconds = "s"
        case bytes = "B"
        case perSecond = "1/s"
        case bytesPerSecond = "B/s"
        /// A median of ratios of what was measured side by side.
        case ratio
    }

    /// What was measured: an operation and a quantity.
    let what: String
    /// The measured program.
    let of: Side
    /// The number of items in the vault; `nil` if it does not matter, as for the following two.
    let items: Int?
    let clients: Int?
    /// The size of the file.
    let bytes: Int?
    let unit: Unit
    let value: Double
    /// The middle half of the samples, relative to the median.
    let spread: Double?

    /// Coffer, or a program beside which it is measured.
    enum Side: String, Codable {
        case coffer, age, borg, cipher, copy, gocryptfs, restic
        case floor = "C"
        case equal = "equal C"
        case keyring = "gnome-keyring"
        case plain = "plain file"
        case agent = "ssh-agent"
    }

    /// Whether two values are of the same figure.
    func isSame(as other: Figure) -> Bool {
        what == other.what && of == other.of && items == other.items && clients == other.clients
            && bytes == other.bytes
    }
}

/// The figures of a run.
enum Figures {
    private static let kept = Mutex<[Figure]>([])

    static var all: [Figure] { kept.withLock { $0 } }

    /// A value in the unit of the samples or sizes that it is measured by.
    enum Value {
        /// Times in milliseconds.
        case time(Samples)
        /// Times in milliseconds for so many bytes each.
        case speed(Samples, bytes: Int)
        /// Answers per second.
        case rate(Samples)
        case ratio(Samples)
        case plainRatio(Double)
        case kibibytes(Int)
    }

    /// Keeps a figure.
    static func keep(
        _ what: String,
        of side: Figure.Side = .coffer,
        items: Int? = nil,
        clients: Int? = nil,
        bytes: Int? = nil,
        _ value: Value
    ) {
        let (unit, number, spread): (Figure.Unit, Double, Double?) =
            switch value {
            case .time(let samples): (.seconds, samples.median / 1000, samples.spread)
            case .speed(let samples, let count):
                (.bytesPerSecond, Double(count) / samples.median * 1000, samples.spread)
            case .rate(let samples): (.perSecond, samples.median, samples.spread)
            case .ratio(let samples): (.ratio, samples.median, samples.spread)
            case .plainRatio(let ratio): (.ratio, ratio, nil)
            case .kibibytes(let count): (.bytes, Double(count << 10), nil)
            }
        // What could not be measured is no figure, and JSON has no word for it.
        guard number.isFinite else { return }
        let figure = Figure(
            what: what,
            of: side,
            items: items,
            clients: clients,
            bytes: bytes,
            unit: unit,
            value: number,
            spread: spread?.isFinite == true ? spread : nil
        )
        kept.withLock { $0.append(figure) }
    }

    // MARK: Lines

    /// Writes the figures, one a line.
    static func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try all.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }
        try Data(lines.joined().utf8).write(to: URL(filePath: path))
    }

    /// Reads kept lines; of several for one figure, the last one counts.
    static func read(from path: String) throws -> [Figure] {
        var figures: [Figure] = []
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            let figure = try JSONDecoder().decode(Figure.self, from: Data(line.utf8))
            figures.removeAll { $0.isSame(as: figure) }
            figures.append(figure)
        }
        return figures
    }
}
