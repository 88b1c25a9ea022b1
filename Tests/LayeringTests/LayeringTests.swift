import Foundation
import Testing

/// Who may see whom.
@Suite struct LayeringTests {
    @Test func `every room of the manifest is in the table, with the same dependencies`() throws {
        let manifest = try Manifest()
        #expect(manifest.dependencies == allowedTargets)
    }

    @Test func `every folder of Sources that holds Swift is in the table`() throws {
        let rooms = try Repository.swiftRooms()
        #expect(rooms == allowedTargets.keys.sorted())
    }

    @Test(arguments: allowedTargets.keys.sorted())
    func `imports stay inside the table`(room: String) throws {
        let allowed = allowedTargets[room] ?? []
        for (module, path) in try imports(of: room) where !isAllowed(module, in: room, allowed) {
            Issue.record("\(path) imports \(module)")
        }
    }

    @Test func `a C library has no importers but its own`() throws {
        for room in try Repository.swiftRooms() {
            for (module, path) in try imports(of: room) {
                let isSole = soleImporters[module]?.contains(room) ?? true
                #expect(isSole, "\(path) imports \(module)")
            }
        }
    }

    @Test func `the dependencies of each target of the manifest are sorted, products last`() throws {
        for (room, dependencies) in try Manifest().order {
            let names = dependencies.filter { $0 != "ArgumentParser" }
            #expect(names == names.sorted { $0.lowercased() < $1.lowercased() }, "\(room)")
        }
    }

    /// One of them would link the runtime of concurrency into it, and that libdispatch, which start with each process.
    @Test func `the daemon is built without tasks and their clocks`() throws {
        var rooms: Set = ["cofferd"]
        while case let further = rooms.union(rooms.flatMap { allowedTargets[$0] ?? [] }), further != rooms {
            rooms = further
        }
        let foreign = /\b(ContinuousClock|SuspendingClock|async|await|actor|Task|AsyncStream|MainActor)\b/
        for room in rooms {
            for source in try Repository.sources(under: "Sources/\(room)") {
                for line in source.lines where line.withoutComment.contains(foreign) {
                    Issue.record("\(source.path): \(line)")
                }
            }
        }
    }

    private func isAllowed(_ module: String, in room: String, _ allowed: Set<String>) -> Bool {
        allowed.contains(module) || systemImporters[module]?.contains(room) == true
    }

    private func imports(of room: String) throws -> [(module: String, path: String)] {
        try Repository.sources(under: "Sources/\(room)").flatMap { source in
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

/// The targets of Package.swift that ship, read as text.
private struct Manifest {
    private(set) var order: [String: [String]] = [:]

    var dependencies: [String: Set<String>] { order.mapValues { Set($0) } }

    init() throws {
        let text = try String(contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
        let shipped = try #require(text.range(of: "let tests")).lowerBound
        let target = /\.(?:target|executableTarget)\(\s*name: "([\w-]+)"(?:,\s*dependencies: \[(.*?)\])?/
            .dotMatchesNewlines()
        let product = /\.product\(name: "(\w+)", package: "[^"]+"\)/
        let drawing = String(text[..<shipped]).replacing(product) { "\"\($0.1)\"" }
        for match in drawing.matches(of: target) where !["CCofferShims", "CLogWriter"].contains(match.1) {
            order[String(match.1)] = (match.2 ?? "").matches(of: /"(\w+)"/).map { String($0.1) }
        }
    }
}
