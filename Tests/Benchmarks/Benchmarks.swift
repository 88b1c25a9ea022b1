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

/// The command line, as `packaging/bench` gives it: `benchmarks NAME COFFERD DIRECTORY [--quick | --check]`,
/// `benchmarks targets [FIGURES]`, `benchmarks plots DIRECTORY FIGURES`.
///
/// The first one leaves its figures in the directory, in the file ``figuresName``. With the name of a ``KeychainSide``, a
/// database and a socket, this program is that daemon.
enum Benchmarks {
    static var all: [any Benchmark.Type] {
        [
            AuditBenchmark.self, BackupBenchmark.self, CLIBenchmark.self, FairnessBenchmark.self, FilesBenchmark.self,
            KeychainBenchmark.self, KeysBenchmark.self, MountBenchmark.self, SecretServiceBenchmark.self,
            StartBenchmark.self,
        ]
    }
    private static let figuresName = "figures"

    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == "targets", words.count <= 2 { return attempt { try printTargets(words.dropFirst().first) } }
        if words.first == "plots", words.count == 3 {
            return attempt { try Plot.write(try Figures.read(from: words[2]), to: words[1]) }
        }
        if let side = words.first.flatMap(KeychainSide.init(rawValue:)), side != .coffer, words.count == 3 {
            unsafe floor_serve(words[1], words[2], side == .equal ? 1 : 0)
        }
        if words.first == LibsecretClient.name { return LibsecretClient.serve() }
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
        attempt {
            try benchmark.run(Setting(daemonPath: words[1], directory: words[2], effort: effort))
            try Figures.write(to: "\(words[2])/\(figuresName)")
            Target.printTable(Figures.all, isComplete: false, "\nWhich targets are met?\n\n")
        }
    }

    /// Prints every target, with its kept figures.
    private static func printTargets(_ path: String?) throws {
        Target.printTable(try path.map(Figures.read) ?? [], isComplete: true)
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
