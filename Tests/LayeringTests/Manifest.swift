import Foundation

/// The targets of Package.swift that ship, read as text.
struct Manifest {
    /// A target, which is a folder of its layer.
    struct Room: Hashable, Sendable, CustomStringConvertible {
        let name: String
        /// The folder of `Sources` in which its folder is.
        let layer: String
        /// What it names, in that order.
        let dependencies: [String]

        /// Its folder, with a slash behind.
        var folder: String { "Sources/\(layer)/\(name.hasPrefix("Coffer") ? String(name.dropFirst(6)) : name)/" }
        var description: String { name }
    }

    /// The layers, bottom first.
    static let layers = ["c", "base", "vault", "daemon", "client", "desktop", "cli", "programs"]

    /// The rooms that hold Swift.
    static let rooms = Result { try read() }

    /// What a room is made of: itself and all that it names, directly or not.
    static func closure(of name: String) throws -> [Room] {
        let rooms = try rooms.get()
        var names: Set = [name]
        while case let more = names.union(rooms.filter { names.contains($0.name) }.flatMap(\.dependencies)),
            more != names
        {
            names = more
        }
        return rooms.filter { names.contains($0.name) }
    }

    private static func read() throws -> [Room] {
        let text = try String(contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
        let target = /\.(?:target|executableTarget)\(\s*name: "([\w-]+)"(?:,\s*dependencies: \[(.*?)\])?/
            .dotMatchesNewlines()
        return layers.flatMap { layer -> [Room] in
            let section = text.components(separatedBy: "\nlet \(layer): [Target] = [\n").dropFirst().first ?? ""
            return section.components(separatedBy: "\n]\n")[0].matches(of: target).map { match in
                let names = (match.2 ?? "").matches(of: /"(\w+)"|(argumentParser)/)
                let dependencies = names.map { $0.1.map(String.init) ?? "ArgumentParser" }
                return Room(name: String(match.1), layer: layer, dependencies: dependencies)
            }
        }
        .filter { !$0.name.hasPrefix("CCoffer") && !$0.name.hasPrefix("CLog") }
    }
}
