import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// Directories that are stored and brought back.
@Suite struct DirectoryTransferTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    private func run(_ line: String) throws -> CommandResult {
        try runCommand(
            "/bin/bash",
            ["-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    @Test(arguments: ["photos", "photos/", "./photos//"])
    func `a directory is stored and comes back byte for byte`(path: String) throws {
        let made = try run(
            """
            mkdir -p photos/2026/a 'photos/with space'; echo one >photos/one; : >photos/empty
            head -c 3000000 /dev/urandom >photos/2026/a/large; printf 'x\\0y' >'photos/with space/größe'
            echo 'TOKEN=s3cret' >photos/.env
            coffer put pictures/all \(path)
            """
        )
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.text.contains("stored 5 of 5 files below 'pictures/all': "), "\(made.text)")
        let back = try run("coffer get pictures/all --output back && diff -r photos back && stat -c %a back back/2026")
        #expect(back.status == 0, "\(back.text)\(back.errors)")
        #expect(back.text == "700\n700\n")
    }

    @Test func `what is no file is named, the rest is stored, and the exit code says so`() throws {
        let put = try run("mkdir d; echo 1 >d/a; ln -s a d/link; mkfifo d/pipe; echo 2 >d/z; coffer put d d")
        #expect(put.status == 64)
        #expect(put.errors.contains("can't store 'd/link': it is a symbolic link"), "\(put.errors)")
        #expect(put.errors.contains("can't store 'd/pipe': it is a named pipe"))
        #expect(put.text.contains("stored 2 of 4 files below 'd'"))
        #expect(try run("coffer list").text == "d/a\nd/z\n")
        #expect(try run("coffer put d d --json 2>&1 | grep -c '\"name\":\"d/[az]\"'").text == "2\n")
        #expect(try run("coffer put d d --note x").status == 64)
        #expect(try run("rm d/link d/pipe; coffer put d d --if-absent").status == 73)
    }

    @Test func `a directory that can't be read is named, and nothing is stored`() throws {
        // Root reads it by its capabilities.
        let bare = geteuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search" : ""
        let put = try run("mkdir -p d/closed; echo 1 >d/a; chmod 0 d/closed; \(bare) coffer put d d; echo $?")
        #expect(put.text == "74\n" && put.errors.contains("'d/closed'"), "\(put.text)\(put.errors)")
        #expect(try run("coffer list; chmod 700 d/closed").text == "")
    }

    @Test func `a folder is not removed by its name alone, and what removes it is said`() throws {
        _ = try run("echo 1 | coffer put d/a")
        let refused = try run("coffer rm d")
        #expect(
            refused.status == 66 && refused.errors.contains("'coffer remove -r d' removes them"),
            "\(refused.errors)"
        )
        #expect(try run("coffer rm nothing").errors.contains("there is no item 'nothing'"))
    }

    @Test func `a name that is not UTF-8 is refused, and nothing else is lost`() throws {
        let put = try run("mkdir d; echo 1 >d/a; echo 2 >d/$'\\xff'; coffer put d d")
        #expect(put.status == 64 && put.errors.contains("its name is not UTF-8"), "\(put.errors)")
        #expect(try run("coffer list").text == "d/a\n")
    }

    @Test func `files that are there stay, and a folder has no content of its own`() throws {
        _ = try run("echo 1 | coffer put d/a; echo 2 | coffer put d/b; mkdir out; echo mine >out/a")
        let get = try run("coffer get d --output out")
        #expect(get.status == 73 && get.errors.contains("'out/a'"), "\(get.errors)")
        #expect(try run("cat out/a out/b").text == "mine\n2\n")
        let folder = try run("coffer get d")
        #expect(folder.status == 66 && folder.errors.contains("2 items are below it"), "\(folder.errors)")
        #expect(try run("coffer get missing --output out2; ls out2").errors.contains("there is no item 'missing'"))
    }

    @Test func `a link where a directory or a file would go is named, and nothing is written behind it`() throws {
        _ = try run("for name in d/a d/file d/sub/x d/sub/deep/y d/z; do echo 1 | coffer put $name; done")
        _ = try run("mkdir other out; echo mine >other/mine; ln -s ../other out/sub; ln -s ../other/new out/file")
        let get = try run("coffer get d --output out")
        #expect(get.status != 0, "\(get.text)\(get.errors)")
        for name in ["out/sub/x", "out/sub/deep/y"] {
            #expect(get.errors.contains("can't write '\(name)': too many levels of symbolic links"), "\(get.errors)")
        }
        #expect(get.errors.contains("can't write 'out/file': it exists already"), "\(get.errors)")
        #expect(try run("find other | sort; cat other/mine").text == "other\nother/mine\nmine\n")
        #expect(try run("find out -type l | sort").text == "out/file\nout/sub\n")
        #expect(try run("find out -type f | sort").text == "out/a\nout/z\n")
        // So is one that leads to a file.
        let file = try run("ln -sf ../other/mine out/file; coffer get d --output out; cat other/mine")
        #expect(file.text == "mine\n" && file.errors.contains("'out/file'"), "\(file.text)\(file.errors)")
    }

    @Test func `an item takes precedence over what is below its name, and a folder has no range`() throws {
        _ = try run("echo 0 | coffer put d; echo 1 | coffer put d/a; echo 2 | coffer put e/a; echo 3 | coffer put ex")
        let item = try run("mkdir out; coffer get d --output out; ls out")
        #expect(!item.errors.isEmpty && item.text.isEmpty, "\(item.text)\(item.errors)")
        #expect(try run("coffer get e --output out && find out -type f").text == "out/a\n")
        #expect(try run("coffer get e --range 0:1 --output part; ls part").errors.contains("there is no item 'e'"))
    }

    @Test func `what is locked is named, and what can be read is written`() throws {
        _ = try run("echo 1 | coffer put d/a; echo 2 | coffer put d/b --accessible AfterFirstUnlock; coffer lock --now")
        let get = try run("coffer get d --output out")
        #expect(get.status == 75 && get.errors.contains("'d/a'"), "\(get.errors)")
        #expect(try run("ls out; cat out/b").text == "b\n2\n")
    }

    @Test(arguments: [30, 44, 80])
    func `the progress bar fits on a line of the terminal`(columns: Int) throws {
        let size = 400_000_000
        let shown = try onTerminal(
            daemon,
            "stty cols \(columns); head -c \(size) /dev/zero >large; coffer put large large; coffer get large --output copy"
        )
        #expect(shown.status == 0, "\(shown.shown)")
        let bars = shown.shown.components(separatedBy: "\r\u{1B}[K").dropFirst().map { text in
            text.prefix { $0 != "\r" && $0 != "\r\n" && $0 != "\n" }
        }
        #expect(bars.allSatisfy { $0.count < columns || $0.hasPrefix("stored") }, "\(bars)")
    }
}
