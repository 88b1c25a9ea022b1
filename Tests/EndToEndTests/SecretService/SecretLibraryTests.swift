import CofferTestSupport
import Testing

/// A program in C with libsecret: `Tests/CLibsecret/client.c`.
@Suite struct SecretLibraryTests {
    private let service: SecretServiceProcess
    private let program: Program

    /// The program, which is compiled once.
    private final class Program: Sendable {
        let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
            let source = "\(Project.root)/Tests/CLibsecret/client.c"
            let script = "gcc -Wall -Werror \"$0\" -o \"$1\" $(pkg-config --cflags --libs libsecret-1)"
            let compiled = try runCommand("/bin/bash", ["-ec", script, source, path])
            if compiled.status != 0 { throw ServiceError(compiled.errors) }
        }

        var path: String { directory.appending("client") }
    }

    private static let compiled = Result { try Program() }

    init() throws {
        program = try Self.compiled.get()
        service = try SecretServiceProcess()
    }

    /// What the program prints; its errors if it fails.
    private func client(_ words: String...) throws -> String {
        let result = try service.run(program.path, words)
        return result.status == 0 ? result.text : result.errors
    }

    @Test func `libsecret stores, looks up, searches and clears, by a schema`() throws {
        #expect(try client("lookup", "it") == "none\n")
        #expect(try client("store", "it", "s3crét", "7", "default").isEmpty)
        #expect(try client("lookup", "it") == "s3crét\n")
        #expect(try client("store", "it", "new", "7", "default").isEmpty)
        #expect(try client("store", "it", "held", "8", "session").isEmpty)
        let found = try client("search", "it")
        #expect(found == "A label|open|8|org.coffer.Test|held\nA label|open|7|org.coffer.Test|new\n")
        #expect(try service.daemon.coffer(["get", "--group", "collection:login", "A label"]).text == "new")
        #expect(try client("clear", "it") == "cleared\n")
        #expect(try client("clear", "it") == "none\n")
        #expect(try client("search", "it").isEmpty)
    }

    @Test func `libsecret finds the items of a locked vault, and sees that they are locked`() throws {
        #expect(try client("store", "it", "s3cret", "7", "default").isEmpty)
        #expect(try client("store", "it", "held", "8", "session").isEmpty)
        #expect(try service.daemon.coffer(["lock", "--now"]).status == 0)
        let words = "A label|open|8|org.coffer.Test|held\nA label|locked|7|org.coffer.Test|-\n"
        var found = ""
        #expect(
            try settles {
                found = try client("search", "it")
                return found == words
            },
            "\(found)"
        )
        #expect(try service.daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        #expect(try settles { try client("search", "it").contains("|open|7|org.coffer.Test|s3cret\n") })
    }

    @Test func `libsecret makes and deletes a collection, and an item of any bytes`() throws {
        let printed = try client("collection", "Größe", "mine")
        #expect(printed == "Größe|Binary|3|equal|application/octet-stream\n1\n")
        let script = """
            bus = Bus()
            assert bus.get(ROOT, 'Service', 'Collections') == [LOGIN, SESSION]
            """
        try service.perform(script)
    }
}
