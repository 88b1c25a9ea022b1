import CofferTestSupport
import Testing

/// The verbs of links and of extended attributes.
@Suite struct FileLinkVerbsTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        let made = try daemon.coffer(["init", "--no-passcode"])
        try #require(made.status == 0, "\(made.errors)")
        let file = try daemon.coffer(["file", "create", "d/report"], input: Array("content".utf8))
        try #require(file.status == 0, "\(file.errors)")
    }

    private func run(_ arguments: String..., input: String = "") throws -> CommandResult {
        try daemon.coffer(["file"] + arguments, input: Array(input.utf8))
    }

    @Test func `link gives a file a further name, or makes a symbolic link`() throws {
        #expect(try run("link", "d/report", "copy").status == 0)
        #expect(try run("link", "d/report", "latest", "--symbolic").status == 0)
        #expect(try run("list").text == "copy\nd/\nlatest -> d/report\n")
        #expect(try run("read", "copy").text == "content")
        let shown = try run("stat", "copy").text
        for line in ["is:          a file", "mode:        0644", "names:       2"] {
            #expect(shown.contains(line), "\(shown)")
        }
        #expect(try run("stat", "latest").text.contains("leads to:    d/report"))
        let opened = try run("read", "latest")
        #expect(opened.status == 64)
        #expect(opened.errors.contains("'latest' is a symbolic link to 'd/report', and none is followed"))
        #expect(try run("link", "d", "e").status == 64)
        #expect(try run("link", "d/report", "copy").status == 73)
        #expect(try run("remove", "d/report").status == 0)
        #expect(try run("read", "copy").text == "content")
    }

    @Test func `attribute lists, reads, writes and removes`() throws {
        #expect(try run("attribute", "d/report").text == "")
        #expect(try run("attribute", "d/report", "user.note", "--write", input: "draft").status == 0)
        #expect(try run("attribute", "d/report").text == "user.note  5 bytes\n")
        #expect(try run("attribute", "d/report", "--json").text == #"{"name":"user.note","bytes":5}"# + "\n")
        #expect(try run("attribute", "d/report", "user.note").text == "draft")
        #expect(try run("attribute", "d/report", "user.note", "--remove").status == 0)
        let missing = try run("attribute", "d/report", "user.note")
        #expect(missing.status == 66)
        #expect(missing.errors.contains("'d/report' has no attribute 'user.note'"))
        #expect(try run("attribute", "d/report", "trusted.note", "--write", input: "x").status == 64)
        #expect(try run("attribute", "d/report", "--remove").status == 64)
    }
}
