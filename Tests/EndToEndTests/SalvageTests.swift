import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `coffer doctor --salvage`, as a person uses it who has lost a part of a file.
@Suite struct SalvageTests {
    private let daemon: DaemonProcess
    private let content = pseudoRandomBytes(300_000)

    init() throws {
        daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("notes/a", content) { $0.kind = .database }
    }

    private func salvage(_ arguments: [String] = []) throws -> CommandResult {
        try daemon.coffer(["doctor", "--salvage", "notes/a", "--output", "saved"] + arguments)
    }

    /// Changes a byte of the only content, or of its overlay.
    private func flip(_ place: Int, ofOverlay: Bool = false) throws {
        let blobs = daemon.statePath + "/blobs"
        let blob = try #require(
            FileManager.default.subpathsOfDirectory(atPath: blobs).first {
                $0.hasSuffix(".overlay") == ofOverlay && ($0 as NSString).lastPathComponent.count >= 32
            }
        )
        var bytes = try Data(contentsOf: URL(filePath: "\(blobs)/\(blob)"))
        bytes[place] ^= 1
        try bytes.write(to: URL(filePath: "\(blobs)/\(blob)"))
    }

    private func zeroed(_ range: Range<Int>) -> [UInt8] {
        var expected = content
        expected.replaceSubrange(range, with: [UInt8](repeating: 0, count: range.count))
        return expected
    }

    @Test func `get names the damaged chunk, and the rest is saved with zeros in its place`() throws {
        try flip(150_000)
        let refused = try daemon.coffer(["get", "notes/a", "--output", "copy"])
        #expect(refused.status == 65)
        let isNamed = refused.errors.contains("'notes/a' is damaged or was tampered with: chunk 2 of its content")
        #expect(isNamed, "\(refused.errors)")
        #expect(daemon.directory.contents("copy") == nil)
        let saved = try salvage()
        #expect(saved.status == 65)
        #expect(saved.errors == "")
        #expect(
            saved.text == """
                'notes/a': bytes 131072 to 196607 can't be read: zeros stand for them
                saved 234464 of 300000 bytes of 'notes/a' in 'saved'

                """
        )
        let isRight = daemon.directory.contents("saved") == zeroed(131_072..<196_608)
        #expect(isRight)
        let mode = try FileManager.default.attributesOfItem(atPath: daemon.directory.appending("saved"))
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }

    @Test func `damaged chunks that touch are one part, in JSON too`() throws {
        try flip(70_000)
        try flip(140_000)
        try flip(299_000)
        let saved = try salvage(["--json"])
        #expect(saved.status == 65)
        let expected =
            #"{"bytes":300000,"damagedBytes":168928,"damaged":[{"offset":65536,"bytes":131072},"#
            + #"{"offset":262144,"bytes":37856}],"mayBeOlder":false,"name":"notes/a"}"# + "\n"
        #expect(saved.text == expected)
    }

    @Test func `a chunk that was rewritten is saved, or lost, like any other`() throws {
        let client = try daemon.connect()
        let file = try client.openFile(try ItemName("notes/a"), for: .write)
        try file.put([1, 2, 3], at: 70_000)
        try file.put([4], at: 200_000)
        try file.close()
        try flip(500, ofOverlay: true)
        let saved = try salvage()
        #expect(saved.status == 65)
        let isNamed = saved.text.hasPrefix("'notes/a': bytes 69632 to 73727 can't be read")
        #expect(isNamed, "\(saved.text)")
        var expected = zeroed(69_632..<73_728)
        expected[200_000] = 4
        let isRight = daemon.directory.contents("saved") == expected
        #expect(isRight)
    }

    @Test func `a file that is whole is saved whole`() throws {
        let saved = try salvage()
        #expect(saved.status == 0)
        #expect(saved.text == "saved 300000 of 300000 bytes of 'notes/a' in 'saved'\n")
        let isRight = daemon.directory.contents("saved") == content
        #expect(isRight)
    }

    @Test func `a file that is being written is saved as its writer sees it`() throws {
        let client = try daemon.connect()
        let file = try client.openFile(try ItemName("notes/a"), for: .write)
        try file.put([9, 9], at: 100)
        #expect(try salvage().status == 0)
        #expect(daemon.directory.contents("saved")?[99...102] == [content[99], 9, 9, content[102]])
    }

    @Test func `nothing is overwritten, and no file is left if nothing was saved`() throws {
        try daemon.directory.write([1, 2, 3], to: "saved")
        let refused = try salvage()
        #expect(refused.status == 73)
        #expect(daemon.directory.contents("saved") == [1, 2, 3])
        let missing = try daemon.coffer(["doctor", "--salvage", "nothing", "--output", "other"])
        #expect(missing.status == 66)
        _ = try daemon.connect().protect(try ItemName("notes/a"), as: .file(.complete))
        _ = try daemon.coffer(["lock", "--now"])
        let locked = try daemon.coffer(["doctor", "--salvage", "notes/a", "--output", "other"])
        #expect(locked.status == 75)
        #expect(daemon.directory.contents("other") == nil)
    }

    @Test(arguments: [
        ["--salvage", "a"], ["--output", "saved"], ["--salvage", "a", "--output", "saved", "--repair"],
        ["--salvage", "", "--output", "saved"],
    ])
    func `what does not go together is refused, and nothing is made`(arguments: [String]) throws {
        #expect(try daemon.coffer(["doctor"] + arguments).status == 64)
        #expect(daemon.directory.contents("saved") == nil)
    }
}
