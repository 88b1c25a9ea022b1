import Foundation
import Testing

/// What the client library shows to a package that depends on it.
@Suite struct `A program of another package` {
    /// Checks sources as the compiler of another package does, against the modules of this build.
    private func compile(_ sources: [URL]) throws -> Programs.Outcome {
        let beside = Programs.folder.appending(path: "Modules")
        let isBeside = FileManager.default.fileExists(atPath: beside.path)
        let modules = isBeside ? beside : Page.root.appending(path: ".build/debug/Modules")
        let shims = modules.deletingLastPathComponent().appending(path: "CCofferShims.build")
        let folders = [modules, shims, Page.root.appending(path: "Sources/c/CSodium")]
        let options = ["-typecheck", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library"]
        return try Programs.run(
            URL(filePath: "/usr/bin/env"),
            ["swiftc", "-package-name", "outside"] + options + folders.flatMap { ["-I", $0.path] } + sources.map(\.path)
        )
    }

    @Test func `compiles the example of the client, with one import`() throws {
        let folder = Page.root.appending(path: "proto-docs/examples/swift")
        let sources = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for source in sources {
            let text = try String(contentsOf: source, encoding: .utf8)
            #expect(text.matches(of: /import \w+/).map { String($0.0) } == ["import CofferClient"], "\(source)")
        }
        let outcome = try compile(sources)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test(
        arguments: [
            ("print(SlotListParameters().json)", "'json' is inaccessible due to 'package'"),
            ("print(SlotListParameters.coding.method)", "'method' is inaccessible due to 'package'"),
            ("_ = SlotList(slots: [])", "initializer is inaccessible due to 'package'"),
            ("_ = VaultWatchParameters(.items)", "cannot find 'VaultWatchParameters'"),
            ("_ = RequestCancelParameters(1)", "cannot find 'RequestCancelParameters'"),
            ("_ = JSONObject()", "cannot find 'JSONObject'"),
        ]
    )
    func `sees nothing of the JSON, and no call that the client makes by itself`(line: String, error: String) throws {
        let source = FileManager.default.temporaryDirectory.appending(path: "outside-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: source) }
        try "import CofferClient\n\nfunc use() { \(line) }\n".write(to: source, atomically: true, encoding: .utf8)
        let outcome = try compile([source])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(error), "\(outcome.errors)")
    }
}
