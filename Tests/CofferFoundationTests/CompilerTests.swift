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
        let said = try diagnostics(of: statement, imports: imports)
        return Set(said.matches(of: /error: (.+)/).map { String($0.1) }).sorted()
    }

    /// Compiles a program as far as its types.
    ///
    /// - Returns: What the compiler says.
    private func diagnostics(
        of statement: String,
        imports: [String] = ["CofferFoundation", "Foundation"]
    ) throws -> String {
        let directory = try TemporaryDirectory()
        let program = """
            \(imports.map { "import \($0)" }.joined(separator: "\n"))
            func f(url: Foundation.URL, \(imports.count > 1 ? "place: CofferURL, " : "")data: Data) throws {
            \(statement)
            }
            """
        let path = try directory.write(program.utf8, to: "program.swift")
        let modules = ["\(Project.builtWithTests)/Modules", "\(Project.root)/Sources/c/CSodium", shims]
        let result = try runCommand(
            "/usr/bin/env",
            ["swiftc", "-typecheck"] + modules.flatMap { ["-I", $0] } + [path],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        )
        let said = result.errors + result.text
        guard said.contains("error: ") == (result.status != 0) else { throw POSIXError(.EIO) }
        return said
    }

    private var shims: String { "\(Project.builtWithTests)/CCofferShims.build" }

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

    private static let protection = "[.protectionKey: FileProtectionType.complete]"
    /// Calls that ask a file manager for a protection.
    private static let protecting = [
        "try manager.setAttributes(\(protection), ofItemAtPath: \"a\")",
        "try manager.createDirectory(at: url, withIntermediateDirectories: true, attributes: \(protection))",
        "try manager.createDirectory(atPath: \"a\", withIntermediateDirectories: true, attributes: \(protection))",
        "manager.createFile(atPath: \"a\", contents: data, attributes: \(protection))",
        "let chosen = [FileAttributeKey\(protection.dropFirst()); try manager.setAttributes(chosen, ofItemAtPath: \"a\")",
    ]

    /// A line for each statement, about a file manager.
    private func program(_ statements: [String], of manager: String) -> String {
        (["let manager = \(manager).default"] + statements.map { "do { \($0) }" }).joined(separator: "\n")
    }

    @Test func `a protection does not compile for the file manager of Foundation`() throws {
        let said = try diagnostics(of: program(Self.protecting, of: "Foundation.FileManager"))
        // Each of them is refused, in a line of its own.
        let lines = Set(said.matches(of: /program.swift:(\d+):\d+: error: ambiguous use of/).map { String($0.1) })
        #expect(lines.count == Self.protecting.count, "\(said)")
        let ours = Self.protecting.map { $0.replacing("at: url", with: "at: place") }
        #expect(try errors(in: program(ours, of: "CofferFileManager")) == [])
        #expect(try errors(in: program(Self.protecting, of: "FileManager"), imports: ["Foundation"]) == [])
    }

    @Test func `where the expected type decides, the compiler warns that nothing is protected`() throws {
        let call = "manager.createFile(atPath: \"a\", contents: data, attributes: \(Self.protection))"
        let said = try diagnostics(of: program(["if \(call) {}"], of: "Foundation.FileManager"))
        #expect(said.contains("is deprecated: protects nothing"), "\(said)")
    }

    @Test func `the file manager of Foundation goes on to do everything else`() throws {
        let statements = [
            "try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: \"a\")",
            "try manager.createDirectory(at: url, withIntermediateDirectories: true)",
            "try manager.createDirectory(at: url, withIntermediateDirectories: true, attributes: nil)",
            "try manager.createDirectory(atPath: \"a\", withIntermediateDirectories: true, attributes: [.size: 1])",
            "manager.createFile(atPath: \"a\", contents: nil)",
            "manager.createFile(atPath: \"a\", contents: data, attributes: nil)",
        ]
        let said = try diagnostics(of: program(statements, of: "Foundation.FileManager"))
        #expect(!said.contains("error:") && !said.contains("deprecated"), "\(said)")
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
