import CofferTestSupport
import Foundation
import Testing

/// What the compiler picks in a program that imports this library: never, without a word, what protects nothing.
@Suite struct CompilerTests {
    /// Compiles a program as far as its types.
    ///
    /// - Returns: The errors.
    private func errors(
        in statement: String,
        imports: [String] = ["CofferFoundation", "Foundation"]
    ) throws -> [String] {
        let directory = try TemporaryDirectory()
        let program = """
            \(imports.map { "import \($0)" }.joined(separator: "\n"))
            func f(url: Foundation.URL, place: CofferURL, data: Data) throws { \(statement) }
            """
        let path = try directory.write(program.utf8, to: "program.swift")
        let modules = ["\(Project.binaries)/Modules", "\(Project.root)/Sources/CSodium", shims]
        let result = try runCommand(
            "/usr/bin/env",
            ["swiftc", "-typecheck"] + modules.flatMap { ["-I", $0] } + [path],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        )
        let errors = (result.errors + result.text).matches(of: /error: (.+)/).map { String($0.1) }
        guard errors.isEmpty == (result.status == 0) else { throw POSIXError(.EIO) }
        return Set(errors).sorted()
    }

    private var shims: String { "\(Project.binaries)/CCofferShims.build" }

    @Test(arguments: [
        ".completeFileProtection", "[.completeFileProtection]", ".completeFileProtectionUnlessOpen",
        "[.atomic, .completeFileProtectionUntilFirstUserAuthentication]",
        "[.completeFileProtection, .withoutOverwriting]",
    ])
    func `a protection is for places in Coffer, and does not compile for a URL of Foundation`(options: String) throws {
        #expect(try errors(in: "try data.write(to: place, options: \(options))") == [])
        let refused = try errors(in: "try data.write(to: url, options: \(options))")
        #expect(!refused.isEmpty && refused.allSatisfy { $0.hasPrefix("ambiguous use of") })
    }

    @Test(arguments: [
        "", ", options: .atomic", ", options: .noFileProtection", ", options: Data.WritingOptions.atomic",
    ])
    func `what asks for no protection goes on to mean Foundation's`(options: String) throws {
        #expect(try errors(in: "try data.write(to: url\(options))") == [])
    }

    @Test(arguments: [
        "_ = try CofferFileHandle(forWritingTo: url)", "try CofferFileManager.default.removeItem(at: url)",
        "_ = try Foundation.FileHandle(forWritingTo: place)",
        "try Foundation.FileManager.default.removeItem(at: place)",
        "let other: Foundation.URL = place", "CofferFileManager.default.changeCurrentDirectoryPath(\"/\")",
    ])
    func `a place of one kind is not one of the other`(statement: String) throws {
        #expect(try errors(in: statement).count == 1)
    }
}
