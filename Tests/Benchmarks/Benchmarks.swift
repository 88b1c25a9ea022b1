import CBenchmarks
import CofferCore
import Foundation

/// Something that is measured: one file of its own, `<Name>Benchmark.swift`, a line in ``Benchmarks/all``, and one in the
/// help of `packaging/bench`.
protocol Benchmark {
    /// The word for it on the command line.
    static var name: String { get }

    /// Measures, and prints what came of it.
    static func run(_ setting: Setting) throws
}

/// The parameters of a benchmark.
struct Setting {
    /// The daemon to measure.
    let daemonPath: String
    /// An empty directory, which the caller removes.
    let directory: String
    /// How much is done.
    let effort: Effort
}

/// How much a benchmark does.
enum Effort: String, CaseIterable {
    /// Whether it works at all: seconds, and numbers that mean nothing.
    case check
    /// Without the sizes that take minutes.
    case quick
    /// All of it.
    case full
}

/// The command line: `benchmarks NAME COFFERD DIRECTORY [--quick | --check]`, as `packaging/bench` gives it.
enum Benchmarks {
    static var all: [any Benchmark.Type] {
        [
            AuditBenchmark.self, FairnessBenchmark.self, FilesBenchmark.self, KeychainBenchmark.self,
            KeysBenchmark.self, StartBenchmark.self,
        ]
    }
    /// The argument that makes this program a baseline daemon, with a database and a socket after it.
    static let floorName = "floor"

    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == floorName, words.count == 3 { exit(unsafe floor_serve(words[1], words[2])) }
        if words.first == FairnessBenchmark.busyName {
            return attempt { try FairnessBenchmark.serveBusily(Array(words.dropFirst())) }
        }
        guard (3...4).contains(words.count),
            let benchmark = all.first(where: { $0.name == words[0] }),
            let effort = Effort(rawValue: words.count == 3 ? "full" : words[3].replacing("--", with: ""))
        else {
            complain("unknown benchmark or option; see packaging/bench --help")
            exit(64)
        }
        attempt { try benchmark.run(Setting(daemonPath: words[1], directory: words[2], effort: effort)) }
    }

    private static func attempt(_ body: () throws -> Void) {
        do { try body() } catch {
            complain((error as? CofferError)?.message ?? "\(error)")
            exit(70)
        }
    }

    private static func complain(_ text: String) { FileHandle.standardError.write(Data("error: \(text)\n".utf8)) }
}

/// Says on standard error what is going on, while nothing else can be seen.
func tell(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
