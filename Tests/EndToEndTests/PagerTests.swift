import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// Long output and colours on a terminal.
@Suite struct PagerTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        for name in ["a", "b"] { #expect(try daemon.coffer(["put", name], input: [1]).status == 0) }
    }

    @Test(
        arguments: [
            ("COFFER_PAGER='sed s/^/paged:/' coffer list", "paged:a\r\npaged:b\r\n"),
            ("PAGER='sed s/^/paged:/' coffer search A", "paged:a\r\n"),
            ("COFFER_PAGER= PAGER='sed s/^/paged:/' coffer list", "a\r\nb\r\n"),
            ("PAGER='sed s/^/paged:/' coffer list --no-pager", "a\r\nb\r\n"),
            ("PAGER='sed s/^/paged:/' coffer list | cat", "a\r\nb\r\n"),
            ("PAGER='sed s/^/paged:/' coffer get a | od -An -tx1", " 01\r\n"),
            ("PAGER=cat coffer list", "a\r\nb\r\n"), ("coffer list", "a\r\nb\r\n"),
            ("COFFER_PAGER='head -1' coffer list", "a\r\n"),
        ]
    )
    func `a pager shows what goes to a person`(command: String, shows: String) throws {
        let shown = try onTerminal(daemon, command)
        #expect(shown.shown == shows && shown.status == 0)
    }

    @Test func `a listing is as wide as the terminal behind the pager`() throws {
        let narrow = try onTerminal(daemon, "stty cols 44; PAGER='sed s/^//' coffer list -l")
        #expect(narrow.shown.split(separator: "\r\n").allSatisfy { $0.count <= 44 }, "\(narrow.shown)")
    }

    @Test(arguments: ["COFFER_PAGER='true' coffer list", "COFFER_PAGER='sleep 0' coffer audit"])
    func `a pager that reads nothing is no error`(command: String) throws {
        for number in 0..<50 { _ = try daemon.coffer(["put", "n/\(number)"], input: [1]) }
        #expect(try onTerminal(daemon, command).status == 0)
    }

    @Test func `words have colours on a terminal that has them, if they are wanted`() throws {
        let error = "there is no item 'missing'"
        let coloured = try onTerminal(daemon, "TERM=xterm coffer get missing").shown
        #expect(coloured.hasPrefix("\u{1B}[31merror:\u{1B}[m \(error)"), "\(coloured)")
        for plain in [
            "TERM=xterm NO_COLOR=1 coffer get missing", "TERM=dumb coffer get missing", "coffer get missing",
            "TERM=xterm coffer get missing 2>&1 | cat",
        ] {
            let shown = try onTerminal(daemon, plain).shown
            #expect(shown.hasPrefix("error: \(error)"), "\(plain): \(shown)")
        }
    }
}
