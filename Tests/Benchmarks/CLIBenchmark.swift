import CofferCore
import CofferWire
import Foundation

/// The command line as whole processes: `coffer get` beside a C program that connects, asks and prints, `coffer list` of
/// very many names, and `coffer import` of very many values.
enum CLIBenchmark: Benchmark {
    static let name = "cli"

    static func run(_ setting: Setting) throws {
        let (items, rounds, listRounds, values) =
            switch setting.effort {
            case .check: (20, 2, 1, 1000)
            case .quick: (100_000, 100, 5, 1_000_000)
            case .full: (100_000, 500, 11, 1_000_000)
            }
        tell("making a vault of \(items.grouped) items ...")
        let daemon = try BenchmarkDaemon(setting, "cli")
        try daemon.connect().call("vault.init", ["kdf": "interactive"], payload: BenchmarkDaemon.passcode)
        _ = try KeychainOperation.add.request
            .run(at: daemon.socketPath, clients: min(items, 2000), .ascending(from: 0), until: .requests(items))
        let programs = try CLIPrograms(setting, daemon)
        try measureProcesses(programs, rounds: rounds)
        try measureLists(programs, daemon, items: items, rounds: listRounds)
        try measureImport(programs, values: values, rounds: listRounds)
        daemon.stop()
    }

    private static func measureProcesses(_ programs: CLIPrograms, rounds: Int) throws {
        tell("starting (\(rounds) rounds) ...")
        let all = programs.all
        var samples = all.map { _ in Samples() }
        try interleave(rounds: rounds, all.count) { index, counts in
            let taken = try milliseconds { try all[index].run() }
            if counts { samples[index].add(taken) }
        }
        print("From the start of a process to its end:\n")
        var table = Table(["program", "median", "spread", "to C"])
        for (program, times) in zip(all, samples) {
            let floor = programs.hasFloor ? samples.last : nil
            let ratio = program.side == .coffer ? floor.map { times.ratios(to: $0) } : nil
            Figures.keep(program.name, of: program.side, .time(times))
            if let ratio { Figures.keep("\(program.name) to C", .ratio(ratio)) }
            let label = program.side == .floor ? "\(program.name), in C" : program.name
            table.add([label, times.median.asTime, times.spread.asPercent, ratio?.median.formatted(2) ?? ""])
        }
        table.printOut()
        print(programs.hasFloor ? "" : "\nthere is no C compiler: not compared")
        print(
            """
            In C: a program that connects, asks and prints, linked with the C library alone. The version is what every verb \
            costs
            before it begins: the start of the program, and the reading of its arguments.
            """
        )
    }

    private static func measureLists(
        _ programs: CLIPrograms,
        _ daemon: BenchmarkDaemon,
        items: Int,
        rounds: Int
    ) throws {
        tell("listing (\(rounds) rounds) ...")
        let connection = try daemon.connect()
        var (lists, pages) = (Samples(), Samples())
        for round in 0...rounds {
            let list = try milliseconds { try programs.list.run() }
            let page = try milliseconds { try connection.call("item.list") }
            guard round > 0 else { continue }
            lists.add(list)
            pages.add(page)
        }
        Figures.keep(programs.list.name, items: items, .time(lists))
        Figures.keep("item.list, the first page", items: items, .time(pages))
        print("\nHow long does a listing of \(items.grouped) names take?\n")
        var table = Table(["listing", "median", "spread"])
        table.add([programs.list.name, lists.median.asTime, lists.spread.asPercent])
        table.add(["item.list, the first page", pages.median.asTime, pages.spread.asPercent])
        table.printOut()
    }

    /// Measures what a value costs that no entry needs: a file may have many, and each is counted and read.
    private static func measureImport(_ programs: CLIPrograms, values: Int, rounds: Int) throws {
        tell("importing (\(rounds) rounds) ...")
        let login = #"{"type":1,"name":"n","login":{"username":"u","password":"p"}}"#
        let numbers = Array(repeating: "1", count: values).joined(separator: ",")
        let export = #"{"encrypted":false,"items":[\#(login)],"values":[\#(numbers)]}"#
        try Data(export.utf8).write(to: URL(filePath: programs.exportPath))
        var times = Samples()
        for round in 0...rounds {
            let taken = try milliseconds { try programs.dryImport.run() }
            if round > 0 { times.add(taken) }
        }
        let each = times.divided(by: values)
        Figures.keep("\(programs.dryImport.name), a value", .time(each))
        print("\nHow long does a dry run of an import take, of one login and \(values.grouped) values beside it?\n")
        var table = Table(["import", "median", "spread", "a value"])
        table.add([programs.dryImport.name, times.median.asTime, times.spread.asPercent, each.median.asShortTime])
        table.printOut()
    }
}

/// The processes that are measured.
private struct CLIPrograms {
    struct Program {
        let name: String
        let side: Figure.Side
        let path: String
        let arguments: [String]

        func run() throws { try Command.run(path, arguments, discardsOutput: true) }
    }

    /// With the floor as the last one, if there is one.
    let all: [Program]
    let hasFloor: Bool
    let list: Program
    let dryImport: Program
    /// What that one reads.
    let exportPath: String

    init(_ setting: Setting, _ daemon: BenchmarkDaemon) throws {
        let coffer = URL(filePath: setting.daemonPath).deletingLastPathComponent().appending(path: "coffer").path
        let item = "\(LoadRequest.service)/\(LoadRequest.account)"
        let connection = ["--socket", daemon.socketPath, "--no-start"]
        // `packaging/bench` compiles it.
        let floor = "\(setting.directory)/client"
        hasFloor = FileManager.default.isExecutableFile(atPath: floor)
        all =
            [
                Program(name: "coffer get", side: .coffer, path: coffer, arguments: ["get", item] + connection),
                Program(name: "coffer --version", side: .coffer, path: coffer, arguments: ["--version"]),
            ]
            + (hasFloor
                ? [Program(name: "coffer get", side: .floor, path: floor, arguments: [daemon.socketPath, item])] : [])
        list = Program(name: "coffer list", side: .coffer, path: coffer, arguments: ["list"] + connection)
        exportPath = "\(setting.directory)/export.json"
        let words = ["import", "bitwarden", exportPath, "--dry-run", "--json"]
        dryImport = Program(name: "coffer import", side: .coffer, path: coffer, arguments: words + connection)
    }
}
