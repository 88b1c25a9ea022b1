import CofferClient
import CofferCore
import CofferPrompter
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// Questions on a terminal, by the real pinentry.
@Suite struct `A question on a terminal` {
    let scene: Scene
    let prompter: Prompter

    init() throws {
        scene = try Scene()
        prompter = try #require(scene.prompter)
    }

    @Test func `says who asks and why, and its reply is what is typed`() throws {
        var replies: [String] = []
        _ = try prompter.ask(question) { replies.append(words($0)) }
        #expect(scene.settles { scene.terminal.shown.contains("Passcode:") && !scene.terminal.hasEcho })
        #expect(scene.terminal.shown.contains("'/usr/bin/mail' asks to unlock the vault."))
        #expect(scene.terminal.shown.contains("It says: 'new mail'"))
        scene.terminal.type("p%25 äß\r")
        #expect(scene.settles { !replies.isEmpty && scene.terminal.hasEcho })
        #expect(replies == ["passcode p%25 äß"])
        #expect(!scene.terminal.shown.contains("p%25"))
    }

    @Test func `shows why the try before was not accepted`() throws {
        var again = question
        again.error = "Wrong passcode; the next passcode is accepted in 1 min"
        let id = try prompter.ask(again) { _ in }
        #expect(scene.settles { scene.terminal.shown.contains("the next passcode is") })
        prompter.dismiss(id)
    }

    @Test(arguments: [("\r", "confirmed"), ("\t\r", "refused")])
    func `is confirmed or refused by keys`(keys: String, reply: String) throws {
        var replies: [String] = []
        _ = try prompter.ask(Question(.confirmation, text: "May it sign?")) { replies.append(words($0)) }
        #expect(scene.settles { scene.terminal.shown.contains("<Refuse>") })
        scene.terminal.type(keys)
        #expect(scene.settles { !replies.isEmpty })
        #expect(replies == [reply])
    }

    @Test func `is refused when its time is over`() throws {
        var replies: [String] = []
        let short = Question(.passcode, text: "Quick", timeoutSeconds: 1)
        _ = try prompter.ask(short) { replies.append(words($0)) }
        #expect(scene.settles { !replies.isEmpty })
        #expect(replies == ["refused"])
    }

    @Test func `gives the terminal back when it is dismissed`() throws {
        var replies: [String] = []
        let id = try prompter.ask(question) { replies.append(words($0)) }
        #expect(scene.settles { scene.terminal.shown.contains("Passcode:") && !scene.terminal.hasEcho })
        prompter.dismiss(id)
        #expect(replies == ["refused"])
        #expect(scene.settles { scene.terminal.hasEcho })
        prompter.dismiss(id)
        #expect(replies == ["refused"])
    }

    @Test func `waits until the one before is answered`() throws {
        var replies: [String] = []
        _ = try prompter.ask(Question(.confirmation, text: "The first?")) { replies.append("first \(words($0))") }
        _ = try prompter.ask(Question(.confirmation, text: "The second?")) { replies.append("second \(words($0))") }
        #expect(scene.settles { scene.terminal.shown.contains("The first?") })
        scene.terminal.type("\r")
        #expect(scene.settles { scene.terminal.shown.contains("The second?") })
        #expect(replies == ["first confirmed"])
        scene.terminal.type("\r")
        #expect(scene.settles { replies.count == 2 })
        #expect(replies == ["first confirmed", "second confirmed"])
    }
}

/// Questions by a pinentry that does as it likes.
@Suite struct `A question by a bad pinentry` {
    /// Answers `OK` to all, and to the question what is behind.
    private static func answering(_ last: String) -> String {
        "echo OK; while read -r line; do case $line in GETPIN) \(last);; *) echo OK;; esac; done"
    }

    @Test(
        arguments: [
            ("exit 0", "has ended without an answer"), ("echo OK; exit 1", "has ended without an answer"),
            ("echo OK; exec sleep 300 >&-", "has ended without an answer"),
            ("kill -9 $$", "has ended without an answer"),
            (answering("exit 0"), "has ended without an answer"),
            ("head -c 5000 /dev/zero | tr '\\0' x; exec sleep 300", "says too much"),
            ("echo HELLO; exec sleep 300", "says what is not understood"),
            ("echo D early; exec sleep 300", "says what is not understood"),
            (answering("echo 'D a%zz'; exec sleep 300"), "says what is not understood"),
            (answering("echo INQUIRE x; exec sleep 300"), "says what is not understood"),
            ("echo ERR 1 never; exec sleep 300", "says 'never'"),
        ]
    )
    func `fails with what it does, and it is ended`(script: String, finding: String) throws {
        let scene = try Scene("echo $$ >pid; \(script)")
        var replies: [String] = []
        _ = try #require(scene.prompter).ask(question) { replies.append(words($0)) }
        #expect(scene.settles { !replies.isEmpty && scene.hasEnded("pid") })
        #expect(replies == ["can't ask: the pinentry \(finding)"])
    }

    @Test func `fails if more is typed than a passcode has`() throws {
        let scene = try Scene(Self.answering("for part in 1 2 3; do printf 'D %0900d\\n' 0; done; echo OK"))
        var replies: [String] = []
        _ = try #require(scene.prompter).ask(question) { replies.append(words($0)) }
        #expect(scene.settles { !replies.isEmpty })
        #expect(replies == ["more than \(Limits.passcodeBytes) bytes were typed"])
    }

    @Test func `has its reply also if the program ends right behind it`() throws {
        let scene = try Scene(Self.answering("printf 'D pass\\nOK\\n'; exit 0"))
        var replies: [String] = []
        _ = try #require(scene.prompter).ask(question) { replies.append(words($0)) }
        #expect(scene.settles { !replies.isEmpty })
        #expect(replies == ["passcode pass"])
    }

    @Test func `is refused after its time if nothing is answered`() throws {
        let scene = try Scene("exec sleep 300")
        var replies: [String] = []
        let asked = Question(.confirmation, text: "Who is there?", timeoutSeconds: 0)
        _ = try #require(scene.prompter).ask(asked) { replies.append(words($0)) }
        #expect(scene.settles { !replies.isEmpty })
        #expect(replies == ["refused"])
    }

    @Test func `is killed if it does not end, and then the next one is shown`() throws {
        let scene = try Scene("trap '' TERM; echo $$ >>pids; echo OK; while :; do sleep 1; done")
        let prompter = try #require(scene.prompter)
        let ids = try (0..<2).map { _ in try prompter.ask(question) { _ in } }
        #expect(scene.settles { scene.lines("pids").count == 1 })
        let first = try #require(scene.lines("pids").first.flatMap { pid_t($0) })
        prompter.dismiss(ids[0])
        #expect(scene.settles { scene.lines("pids").count == 2 })
        #expect(kill(first, 0) == -1)
        prompter.dismiss(ids[1])
        #expect(scene.settles { scene.hasEnded("pids") })
    }

    @Test func `holds up nothing else on the loop`() throws {
        let scene = try Scene("echo OK; exec sleep 300")
        let id = try #require(scene.prompter).ask(question) { _ in }
        var count = 0
        let timer = try LoopTimer(on: scene.loop) { count += 1 }
        for expected in 1...5 {
            timer.set(BootClock.system.now)
            #expect(scene.settles { count == expected })
        }
        scene.prompter?.dismiss(id)
        timer.invalidate()
    }

    @Test func `fails if there is none, and says what to install`() throws {
        let loop = try EventLoop()
        let prompter = try Prompter(on: loop, program: "/nonexistent/pinentry") { ["DISPLAY": ":0"][$0] }
        var errors: [CofferError] = []
        for _ in 0..<2 {
            _ = try prompter.ask(question) { if case .failed(let error) = $0 { errors.append(error) } }
        }
        #expect(errors.isEmpty, "no reply comes before the asker has its number")
        #expect(
            settles {
                loop.poll(milliseconds: 0)
                loop.dispatch()
                return errors.count == 2
            }
        )
        let error = try #require(errors.first)
        #expect(error.code == .notAvailable)
        #expect(error.message.hasPrefix("can't ask: '/nonexistent/pinentry' can't be started: no such file"))
        #expect(error.hint?.contains("pinentry-gnome3") == true)
    }
}

/// The queue of a prompter.
@Suite struct PrompterTests {
    @Test func `questions are shown one at a time, in order`() throws {
        let script = """
            [ -s pids ] && kill -0 "$(tail -n 1 pids)" 2>/dev/null && echo overlap >>log
            echo $$ >>pids; echo OK
            while read -r line; do
                case $line in SETDESC*) echo "$line" >>log;; esac
                echo OK
            done
            """
        let scene = try Scene(script)
        let prompter = try #require(scene.prompter)
        var replies: [String] = []
        let texts: [Line] = ["one", "two", "three"]
        for text in texts { _ = try prompter.ask(Question(.confirmation, text: text)) { replies.append(words($0)) } }
        #expect(scene.settles { replies.count == 3 })
        #expect(scene.lines("log") == ["SETDESC one", "SETDESC two", "SETDESC three"])
    }

    @Test func `a question that waits can be taken back, and is never shown`() throws {
        let scene = try Scene("echo OK; while read -r line; do echo \"$line\" >>log; echo OK; done")
        let prompter = try #require(scene.prompter)
        var replies: [String] = []
        _ = try prompter.ask(Question(.confirmation, text: "one")) { replies.append("one \(words($0))") }
        let id = try prompter.ask(Question(.confirmation, text: "two")) { replies.append("two \(words($0))") }
        _ = try prompter.ask(Question(.confirmation, text: "three")) { replies.append("three \(words($0))") }
        prompter.dismiss(id)
        #expect(replies == ["two refused"])
        #expect(scene.settles { replies.count == 3 })
        #expect(replies == ["two refused", "one confirmed", "three confirmed"])
        #expect(scene.lines("log").filter { $0.hasPrefix("SETDESC") } == ["SETDESC one", "SETDESC three"])
    }

    @Test func `no more questions wait than the bound`() throws {
        let scene = try Scene("exec sleep 300")
        let prompter = try #require(scene.prompter)
        var replies: [String] = []
        let ids = try (0..<Limits.waitingPrompts).map { _ in
            try prompter.ask(question) { replies.append(words($0)) }
        }
        let error = #expect(throws: CofferError.self) { _ = try prompter.ask(question) { _ in } }
        #expect(error?.code == .notAvailable && error?.retry == .later)
        for id in ids { prompter.dismiss(id) }
        #expect(replies == Array(repeating: "refused", count: ids.count))
        _ = try prompter.ask(question) { _ in }
    }

    @Test func `a pinentry is killed with its prompter`() throws {
        let scene = try Scene("echo $$ >pid; echo OK; exec sleep 300")
        do {
            let prompter = try #require(scene.prompter)
            _ = try prompter.ask(question) { _ in }
        }
        #expect(scene.settles { scene.lines("pid").count == 1 })
        #expect(!scene.hasEnded("pid"))
        scene.endPrompter()
        #expect(scene.hasEnded("pid"))
    }
}
