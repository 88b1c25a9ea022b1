import Foundation
import Testing

/// Who may see whom: what Package.swift says, which is the architecture.
@Suite struct LayeringTests {
    private let rooms: [Manifest.Room]

    init() throws { rooms = try Manifest.rooms.get() }

    @Test func `the folders of Sources are the layers and the targets of the manifest`() throws {
        let folders = Set(
            try Repository.sources(under: "Sources").map { source in
                source.path.split(separator: "/").prefix(3).joined(separator: "/") + "/"
            }
        )
        #expect(folders == Set(rooms.map(\.folder)))
    }

    @Test func `the map names every room, in its layer, and only files that exist`() throws {
        let map = try String(contentsOf: Repository.root.appending(path: "Sources/README.md"), encoding: .utf8)
        var rows: [String: [String]] = [:]
        var layer = ""
        for line in map.split(separator: "\n") {
            guard let row = line.wholeMatch(of: /\| (\*\*)?(.+?)(?:\*\*)? \| .+/), row.2 != "room" else { continue }
            if row.1 != nil {
                layer = String(row.2)
            } else {
                rows[layer, default: []] += row.2.components(separatedBy: ", ")
            }
        }
        for room in rooms where room.layer != "programs" {
            let folder = room.folder.split(separator: "/").last.map(String.init) ?? ""
            #expect(rows[room.layer]?.contains(folder) == true, "\(room)")
        }
        #expect(map.count { $0 == "\n" } <= 80)
        for file in map.matches(of: /`([a-z]+\/[\w\/+.]+\.swift)`/) {
            let path = Repository.root.appending(path: "Sources/\(file.1)").path
            #expect(FileManager.default.fileExists(atPath: path), "\(file.1)")
        }
    }

    @Test func `a room names only rooms of layers that its own may see`() throws {
        let layers = Dictionary(uniqueKeysWithValues: rooms.map { ($0.name, $0.layer) })
        for room in rooms {
            let visible = Self.visible[room.layer] ?? []
            // The command line alone has a package beside the C libraries.
            for dependency in room.dependencies where dependency != "ArgumentParser" || room.layer != "cli" {
                let layer = layers[dependency] ?? "c"
                #expect(layer == room.layer || visible.contains(layer), "\(room) names \(dependency)")
            }
        }
    }

    /// What each layer may see beside itself: the daemon's half and the clients' half meet in `base` only.
    private static let visible: [String: Set<String>] = [
        "base": ["c"], "vault": ["base"], "daemon": ["c", "base", "vault"], "client": ["c", "base"],
        "desktop": ["base", "client"], "cli": ["base", "client", "desktop"],
        "programs": ["c", "base", "daemon", "client", "desktop", "cli"],
    ]

    @Test func `each room imports what it names, and nothing else`() throws {
        for room in rooms {
            let imported = try imports(of: room)
            for (module, path) in imported {
                let isAllowed =
                    room.dependencies.contains(module) || Self.systemImporters[module]?.contains(room.name) == true
                #expect(isAllowed, "\(path) imports \(module)")
            }
            let unused = Set(room.dependencies).subtracting(imported.map(\.module))
            #expect(unused.isEmpty, "\(room) names \(unused) in vain")
        }
    }

    /// Who may import a module of the system: only the room that implements its API may import Foundation.
    private static let systemImporters: [String: Set<String>] = [
        "Foundation": ["CofferFoundation"],
        "Glibc": [
            "CofferBackup", "CofferBackupCommands", "CofferBus", "CofferCommandSupport", "CofferCommands",
            "CofferCrypto", "cofferd", "CofferFileContent", "CofferFiles", "CofferHandlers", "CofferImportExport",
            "CofferKernelFiles", "CofferLogind", "CofferProcesses", "CofferPrompter", "CofferProvision",
            "CofferSecretFormats", "CofferSecretService", "CofferSSHAgent", "CofferSystem", "CofferTerminal",
            "CofferVault", "CofferVaultCommands",
        ],
        "Synchronization": [
            "CofferBackup", "CofferClient", "CofferCommandSupport", "CofferCrypto", "cofferd", "CofferFileContent",
            "CofferFoundation", "CofferKernelFiles", "CofferMemory", "CofferService", "CofferSystem", "CofferTerminal",
            "CofferVault",
        ],
    ]

    @Test func `the dependencies of each target of the manifest are sorted, products last`() throws {
        for room in rooms {
            let names = room.dependencies.filter { $0 != "ArgumentParser" }
            #expect(names == names.sorted { $0.lowercased() < $1.lowercased() }, "\(room)")
        }
    }

    /// One of them would link the runtime of concurrency into it, and that libdispatch, which start with each process.
    @Test func `the daemon is built without tasks and their clocks`() throws {
        let foreign = /\b(ContinuousClock|SuspendingClock|async|await|actor|Task|AsyncStream|MainActor|DispatchQueue)\b/
        for room in try Manifest.closure(of: "cofferd") {
            for source in try Repository.sources(under: room.folder) {
                for line in source.lines where line.withoutComment.contains(foreign) {
                    Issue.record("\(source.path): \(line)")
                }
            }
        }
    }

    private func imports(of room: Manifest.Room) throws -> [(module: String, path: String)] {
        try Repository.sources(under: room.folder).flatMap { source in
            source.lines.compactMap { line in importedModule(line).map { ($0, source.path) } }
        }
    }
}

/// The module that a line imports, whatever stands around the word.
private func importedModule(_ line: Substring) -> String? {
    let words = line.withoutComment.split { $0 == " " || $0 == "\t" || $0 == ";" }
    guard let place = words.firstIndex(of: "import"), place + 1 < words.count else { return nil }
    let isDeclaration = words[..<place].allSatisfy { word in
        word.hasPrefix("@") || ["public", "package", "internal", "fileprivate", "private"].contains(String(word))
    }
    guard isDeclaration else { return nil }
    // `import struct Module.Name` names the module before the dot.
    let kinds = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    let hasKind = kinds.contains(String(words[place + 1])) && place + 2 < words.count
    let name = words[hasKind ? place + 2 : place + 1]
    return name.split(separator: ".").first.map(String.init)
}
