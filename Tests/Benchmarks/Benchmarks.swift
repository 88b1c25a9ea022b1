import CBenchmarks
import CofferCore
import Foundation

/// A benchmark, in a file of its own, `<Name>Benchmark.swift`.
///
/// It has a line in ``Benchmarks/all``, and one in the help of `packaging/bench`.
protocol Benchmark {
    /// Its name on the command line.
    static var name: String { get }

    /// Measures, and prints the results.
    static func run(_ setting: Setting) throws
}

/// The parameters of a benchmark.
struct Setting {
    /// The daemon to measure.
    let daemonPath: String
    /// An empty directory, which the caller removes.
    let directory: String
    /// The amount of work.
    let effort: Effort
}

/// The amount of work of a benchmark.
enum Effort: String, CaseIterable {
    /// A functional check, in seconds, with meaningless numbers.
    case check
    /// Without the sizes that take minutes.
    case quick
    /// Everything.
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
    /// The argument that makes this program a baseline daemon, followed by a database and a socket.
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

/// Prints the current activity on standard error.
func tell(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
