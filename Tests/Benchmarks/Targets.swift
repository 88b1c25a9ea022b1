import Foundation

/// A value that Coffer is designed for.
///
/// All of them are in ``all``; `proto-docs/PERFORMANCE.md` has a row for each.
struct Target {
    enum Limit {
        case atMost(Double)
        case atLeast(Double)

        func isMet(by value: Double) -> Bool {
            switch self {
            case .atMost(let limit): value <= limit
            case .atLeast(let limit): value >= limit
            }
        }

        var text: String {
            switch self {
            case .atMost(let limit): "≤ \(Self.text(limit))"
            case .atLeast(let limit): "≥ \(Self.text(limit))"
            }
        }

        private static func text(_ limit: Double) -> String {
            limit == limit.rounded() ? limit.formatted(0) : "\(limit)"
        }
    }

    /// What is measured, and in which unit unless it is a ratio.
    let what: String
    /// `nil` if the figures are for information only.
    let limit: Limit?
    /// The figures that must meet it.
    private let figures: [String]
    private let items: ClosedRange<Int>?
    /// Empty if any number counts.
    private let clients: [Int]
    private let bytes: Int?
    /// The factor from the unit of the figures to that of the target.
    private let scale: Double

    private init(
        _ what: String,
        _ limit: Limit?,
        of figures: [String],
        items: ClosedRange<Int>? = nil,
        clients: [Int] = [],
        bytes: Int? = nil,
        scale: Double = 1
    ) {
        self.what = what
        self.limit = limit
        self.figures = figures
        self.items = items
        self.clients = clients
        self.bytes = bytes
        self.scale = scale
    }

    /// The measured values, by figure, by number of items and by number of clients.
    private func values(_ measured: [Figure]) -> [Double] {
        figures.flatMap { name in
            measured.filter { figure in
                figure.what == name && figure.of == .coffer
                    && items.map { $0.contains(figure.items ?? 0) } != false
                    && (clients.isEmpty || figure.clients.map(clients.contains) == true)
                    && bytes.map { $0 == figure.bytes } != false
            }
            .sorted { ($0.items ?? 0, $0.clients ?? 0) < ($1.items ?? 0, $1.clients ?? 0) }.map { $0.value * scale }
        }
    }

    /// A row of the table, or `nil` if a measurement is wanted and missing.
    ///
    /// The rounded values are judged, so that a reader can repeat the verdict.
    private func row(_ measured: [Figure], isShownUnmeasured: Bool) -> [String]? {
        let texts = values(measured).map { $0.formatted($0 < 10 ? 2 : 1) }
        if texts.isEmpty { return isShownUnmeasured ? [what, limit?.text ?? "none", "not measured", ""] : nil }
        let measured = texts.joined(separator: ", ")
        guard let limit else { return [what, "none", measured, ""] }
        return [what, limit.text, measured, texts.compactMap(Double.init).allSatisfy(limit.isMet) ? "met" : "MISSED"]
    }

    /// Prints the table of targets as Markdown.
    ///
    /// - Parameters:
    ///   - measured: The figures.
    ///   - isComplete: Whether targets that were not measured have a row.
    ///   - question: Printed before a table that has rows.
    static func printTable(_ measured: [Figure], isComplete: Bool, _ question: String = "") {
        let rows = all.compactMap { $0.row(measured, isShownUnmeasured: isComplete) }
        if rows.isEmpty { return }
        print(question, terminator: "")
        for row in [["what", "target", "measured", "so"], ["---", "---", "---", "---"]] + rows {
            print("| \(row.joined(separator: " | ")) |")
        }
    }
}

// MARK: - The targets

extension Target {
    static let all = keychain + files + mount + backup + keys + beside + programs + secretService + information

    private static let keychain = [
        beside(equal, "`item.get` and `keychain.find`, one client, latency", .atMost(1.5), of: get, find, "latency"),
        beside(
            equal,
            "`item.get` and `keychain.find`, one client, processor time",
            .atMost(1.7),
            of: get,
            find,
            "processor time"
        ),
        beside(
            equal,
            "`item.get` and `keychain.find` by 8 clients, rate",
            .atLeast(0.7),
            of: get,
            find,
            "rate",
            clients: [8]
        ),
        beside(
            equal,
            "`item.get` and `keychain.find` by 64 clients, rate",
            .atLeast(0.7),
            of: get,
            find,
            "rate",
            clients: [64]
        ),
        beside(equal, "`item.put`, one client, latency", .atMost(1.4), of: put, "latency"),
        beside(equal, "`item.put`, one client, processor time", .atMost(2), of: put, "processor time"),
        beside(equal, "`item.put` by 64 writers, rate", .atLeast(0.6), of: put, "rate", clients: [64]),
        Target(
            "a search that scans every item, µs an item",
            .atMost(1.5),
            of: ["prefix search, an item", "contains search, an item"],
            items: 10_000...1_000_000,
            scale: 1e6
        ),
        Target(
            "look-ups, rate to gnome-keyring of 100 and of 1,000 items",
            .atLeast(25),
            of: ["keychain.find rate to gnome-keyring"]
        ),
        Target(
            "`item.put` by 64 writers, rate to one writer",
            .atLeast(8),
            of: ["item.put rate to one writer"],
            clients: [64]
        ),
        Target(
            "`item.put` at 10,000 and 1,000,000 items, time to that at 100",
            .atMost(1.25),
            of: ["item.put latency to that at the fewest items"],
            items: 10_000...1_000_000
        ),
        Target(
            "memory, unlocked after one get, 100 and 10,000 items, MiB",
            .atMost(12),
            of: ["memory, unlocked"],
            items: 0...999_999,
            scale: mebibyte
        ),
        Target(
            "memory, unlocked after one get, 1,000,000 items, MiB",
            .atMost(24),
            of: ["memory, unlocked"],
            items: 1_000_000...1_000_000,
            scale: mebibyte
        ),
    ]

    private static let (get, find, put) = ("item.get", "keychain.find", "item.put")
    private static let equal = (name: "a C daemon that does the same work", suffix: "to equal C")
    private static let bare = (name: "a C daemon that seals nothing", suffix: "to C")

    /// - Parameter figures: The operations, and after them the quantity.
    private static func beside(
        _ floor: (name: String, suffix: String),
        _ what: String,
        _ limit: Limit?,
        of figures: String...,
        clients: [Int] = [1]
    ) -> Target {
        let quantity = figures.last ?? ""
        return Target(
            "\(what) to \(floor.name)",
            limit,
            of: figures.dropLast().map { "\($0) \(quantity) \(floor.suffix)" },
            items: 0...10_000,
            clients: clients
        )
    }

    /// Beside a daemon that seals nothing: no daemon that decrypts comes close to it.
    private static let information = [
        beside(bare, "`item.get` and `keychain.find`, one client, latency", nil, of: get, find, "latency"),
        beside(
            bare,
            "`item.get`, `keychain.find` and `item.put`, one client, processor time",
            nil,
            of: get,
            find,
            put,
            "processor time"
        ),
        beside(bare, "`item.get` by 8 and by 64 clients, rate", nil, of: get, "rate", clients: [8, 64]),
        beside(bare, "`item.put` by 64 writers, rate", nil, of: put, "rate", clients: [64]),
        Target(
            "`item.put`, one client, latency to a commit of one row",
            nil,
            of: ["item.put latency to a bare commit"],
            items: 0...10_000
        ),
    ]

    private static let mebibyte = 1 / Double(1 << 20)
    private static let large = 1 << 30

    private static let backup = [
        Target(
            "first backup of 1,000 files of 10 MiB and of 100,000 secrets, rate to restic and to borg",
            .atLeast(1),
            of: ["restic", "borg"].flatMap {
                ["first backup of files, rate to \($0)", "first backup of secrets, rate to \($0)"]
            }
        ),
        Target(
            "second backup, unchanged, of 1,000 files and of 100,000 secrets, time to restic",
            .atMost(0.1),
            of: ["second backup of files, time to restic", "second backup of secrets, time to restic"]
        ),
        Target(
            "memory of a backup of 1,000 files and of 100,000 secrets, MiB",
            .atMost(64),
            of: ["memory of a backup of files", "memory of a backup of secrets"],
            scale: mebibyte
        ),
    ]

    private static let files = [
        Target(
            "put and get of a 1 GiB file, each on disk and in memory, rate to age",
            .atLeast(2),
            of: ["put on disk to age", "put in memory to age", "get on disk to age", "get in memory to age"],
            bytes: large
        ),
        Target(
            "put and get of a 1 GiB file, each on disk and in memory, rate to the cipher alone",
            .atLeast(0.8),
            of: ["put", "get"].flatMap { ["\($0) on disk to the cipher", "\($0) in memory to the cipher"] },
            bytes: large
        ),
        Target(
            "memory beyond idle during a transfer of a 1 GiB file, MiB",
            .atMost(16),
            of: ["memory of a transfer on disk", "memory of a transfer in memory"],
            bytes: large,
            scale: mebibyte
        ),
        Target(
            "4 KiB random reads in a 1 GiB file, rate to gocryptfs",
            .atLeast(1),
            of: ["random read to gocryptfs"],
            bytes: large
        ),
        Target(
            "4 KiB random writes in a 1 GiB file with a sync at the end, rate to gocryptfs",
            .atLeast(0.7),
            of: ["random write, sync at the end to gocryptfs"],
            bytes: large
        ),
        Target(
            "class change of a 1 GiB file, time to that of a 1 KiB one",
            .atMost(1.25),
            of: ["class change to that of a small file"],
            bytes: large
        ),
    ]

    private static let mount = [
        Target(
            "in a mounted vault, 1 GiB written and synced, and read, cached and from disk, rate to gocryptfs",
            .atLeast(1),
            of: [
                "mount: sequential write to gocryptfs", "mount: sequential read to gocryptfs",
                "mount: sequential read from disk to gocryptfs",
            ],
            bytes: large
        ),
        Target(
            "in a mounted vault, 4 KiB random reads by one thread and by four, rate to gocryptfs",
            .atLeast(0.9),
            of: ["mount: random read to gocryptfs", "mount: random read by 4 threads to gocryptfs"]
        ),
        Target(
            "in a mounted vault, 4 KiB random writes with a sync each, and inserts by SQLite in WAL mode, rate to gocryptfs",
            .atLeast(1.2),
            of: ["mount: random write, sync to gocryptfs", "mount: SQLite inserts in WAL mode to gocryptfs"]
        ),
        Target(
            "in a mounted vault, 10,000 files: `tar -x`, rate to gocryptfs",
            .atLeast(1.2),
            of: ["mount: untar to gocryptfs"],
            items: manyFiles...manyFiles
        ),
        Target(
            "in a mounted vault, 10,000 files: `rm -r`, rate to gocryptfs",
            .atLeast(0.7),
            of: ["mount: rm -r to gocryptfs"],
            items: manyFiles...manyFiles
        ),
        Target(
            "in a mounted vault, 10,000 files: `git status` after a pause and again, `ls -l`, rate to gocryptfs",
            .atLeast(5),
            of: [
                "mount: git status to gocryptfs", "mount: git status again to gocryptfs", "mount: ls -l to gocryptfs",
            ],
            items: manyFiles...manyFiles
        ),
        Target(
            "in a mounted vault, small reads beside a large one, time to that alone",
            .atMost(1.5),
            of: ["mount: small reads beside a large one to alone"]
        ),
        Target(
            "`item.get` beside four readers in a mount, small reads in a mount beside eight clients, time to that alone",
            .atMost(5),
            of: ["mount: item.get beside four readers to alone", "mount: small reads beside eight clients to alone"]
        ),
        Target(
            "memory of the daemon behind a mount that was busy, MiB",
            .atMost(24),
            of: ["mount: memory of the daemon"],
            bytes: large,
            scale: mebibyte
        ),
    ]

    private static let manyFiles = 10_000

    private static let keys = [
        scaling(at: 10_000, named: "10,000"), scaling(at: 1_000_000, named: "1,000,000"),
        Target(
            "lock with 1,000 connections, idle and watching, ms until the keys are wiped",
            .atMost(1),
            of: ["lock, idle connections", "lock, watching connections"],
            clients: [1000],
            scale: 1e3
        ),
    ]

    private static func scaling(at items: Int, named text: String) -> Target {
        let steps = [
            "unlock", "lock", "passcode change", "class change of a secret", "class change of a file", "erase",
        ]
        return Target(
            "unlock, lock, passcode change, class change of a secret and of a file, erase at \(text) items, time to that at 10",
            .atMost(1.25),
            of: steps.map { "\($0) to that at 10 items" },
            items: items...items
        )
    }

    private static let beside = [
        Target(
            "`item.get`, one client, part of it that the audit adds, elapsed time and processor time",
            .atMost(0.1),
            of: ["audit's part of the time", "audit's part of the processor time"]
        ),
        Target(
            "a client beside 64 busy ones of another user, time to that alone: `item.get`, update, each beside `item.get`, "
                + "search, update",
            .atMost(5),
            of: ["item.get", "update"].flatMap { quiet in
                ["item.get", "exact search", "update"].map { "\(quiet) beside \($0) to alone" }
            }
        ),
    ]

    private static let programs = [
        Target(
            "start of the daemon to its first answer, time to that of ssh-agent",
            .atMost(1.5),
            of: ["start to ssh-agent"]
        ),
        Target(
            "start of the daemon to its first answer, time to that at 10 items",
            .atMost(1.25),
            of: ["start to that at 10 items"],
            items: 10_000...1_000_000
        ),
        Target(
            "`coffer get`, time of the process to that of a C program that connects, asks and prints",
            .atMost(2),
            of: ["coffer get to C"]
        ),
        Target(
            "`coffer list` of 100,000 names, s",
            .atMost(0.4),
            of: ["coffer list"],
            items: 100_000...100_000
        ),
        Target(
            "first page of a listing of 100,000 names, ms",
            .atMost(5),
            of: ["item.list, the first page"],
            items: 100_000...100_000,
            scale: 1e3
        ),
    ]

    private static let secretService = [
        Target(
            "look-ups through libsecret, rate to gnome-keyring of 100 items",
            .atLeast(2),
            of: ["secret service: look-up rate to gnome-keyring"],
            items: 100...100
        ),
        Target(
            "look-ups through libsecret, rate to gnome-keyring of 10,000 items",
            .atLeast(5),
            of: ["secret service: look-up rate to gnome-keyring"],
            items: 10_000...10_000
        ),
        Target(
            "a store through libsecret at 10,000 and 100,000 items, time to that at 100",
            .atMost(1.25),
            of: ["secret service: store latency to that at the fewest items"],
            items: 10_000...100_000
        ),
        Target(
            "memory of `coffer-secret-service` after one look-up, 100 items, MiB",
            .atMost(12),
            of: ["secret service: memory"],
            items: 0...100,
            scale: mebibyte
        ),
    ]
}
