import CofferCore
import CofferPrompter
import Foundation
import Testing

/// What is said to a pinentry, and what its answers mean.
@Suite struct PinentryDialogueTests {
    private let screen = PinentryScreen { ["GPG_TTY": "/dev/pts/7", "TERM": "xterm", "LANG": "C"][$0] }

    /// Speaks until the dialogue ends.
    ///
    /// - Parameter answer: What the pinentry answers to a line, in lines.
    /// - Returns: What was said, and the reply.
    private func speak(
        _ question: Question,
        _ answer: (String) -> [String]
    ) throws -> (said: [String], reply: String) {
        var dialogue = try PinentryDialogue(question, on: screen)
        var said: [String] = []
        var heard = ["OK hello"]
        while !heard.isEmpty {
            var bytes = Array(heard.removeFirst().utf8)
            let move = bytes.withUnsafeMutableBytes { dialogue.move(after: $0) }
            switch move {
            case .wait: break
            case .send(let line):
                said.append(line)
                heard += answer(line)
            case .end(let reply): return (said, words(reply))
            }
        }
        return (said, "waits")
    }

    @Test func `a passcode is asked for with all that the person has to know`() throws {
        var asked = Question.unlock(for: "/usr/bin/mail", reason: "new mail", windowID: "x11:1f")
        asked.error = "Wrong"
        let (said, reply) = try speak(asked) {
            $0 == "GETPIN" ? ["S PIN_REPEATED", "D pass%25", "D code", "OK"] : ["OK"]
        }
        #expect(reply == "passcode pass%code")
        #expect(
            said == [
                "OPTION no-grab", "OPTION ttyname=/dev/pts/7", "OPTION ttytype=xterm", "OPTION lc-ctype=C",
                "OPTION lc-messages=C", "OPTION parent-wid=31", "SETKEYINFO --clear", "SETTIMEOUT 120",
                "SETTITLE Coffer",
                "SETDESC '/usr/bin/mail' asks to unlock the vault.%0AIt says: 'new mail'", "SETERROR Wrong",
                "SETPROMPT Passcode:", "SETOK OK", "SETCANCEL Cancel", "GETPIN",
            ]
        )
    }

    @Test func `a program that asks elsewhere prints the passcode as it is`() throws {
        for (line, reply) in [("D p%25 ä", "passcode D p%25 ä"), ("", "passcode "), ("OK", "passcode OK")] {
            var dialogue = try PinentryDialogue()
            var bytes = Array(line.utf8)
            let move = bytes.withUnsafeMutableBytes { dialogue.move(after: $0) }
            guard case .end(let end) = move else {
                Issue.record("\(line) is no answer")
                continue
            }
            #expect(words(end) == reply)
        }
        // It says nothing if the person refuses, and a pinentry always does.
        let refusal = try PinentryDialogue().replyToSilence
        #expect(words(refusal) == "refused")
        let failure = try PinentryDialogue(question, on: screen).replyToSilence
        #expect(words(failure) == "can't ask: the pinentry has ended without an answer")
    }

    @Test(arguments: ["DISPLAY", "WAYLAND_DISPLAY", "GPG_TTY"])
    func `there is a screen if a variable names one`(name: String) {
        #expect(PinentryScreen { $0 == name ? ":0" : nil }.isThere)
        #expect(!PinentryScreen { $0 == name ? "" : nil }.isThere)
        #expect(!PinentryScreen { $0 == name ? nil : $0 == "TERM" ? "xterm" : nil }.isThere)
    }

    @Test func `a confirmation has no field, and its buttons say what they do`() throws {
        let asked = Question(.confirmation, text: "May it?", timeoutSeconds: 7)
        let (said, reply) = try speak(asked) { _ in ["OK"] }
        #expect(reply == "confirmed")
        #expect(
            said.suffix(6) == [
                "SETTIMEOUT 7", "SETTITLE Coffer", "SETDESC May it?", "SETOK Allow", "SETCANCEL Refuse", "CONFIRM",
            ]
        )
    }

    @Test(arguments: [83_886_179, 83_886_142, 83_886_194, 83_886_278, 99])
    func `a person who cancels, or does nothing, refuses`(code: Int) throws {
        #expect(try speak(question) { [$0 == "GETPIN" ? "ERR \(code) x" : "OK"] }.reply == "refused")
        let confirmation = Question(.confirmation, text: "May it?")
        #expect(try speak(confirmation) { [$0 == "CONFIRM" ? "ERR \(code) x" : "OK"] }.reply == "refused")
    }

    @Test func `another error is told in the words of the pinentry`() throws {
        let asked = try speak(question) { [$0 == "GETPIN" ? "ERR 83918950 Inappropriate ioctl" : "OK"] }
        #expect(asked.reply == "can't ask: the pinentry says 'Inappropriate ioctl'")
    }

    @Test func `options that a pinentry does not know are left, texts are not`() throws {
        let modest = try speak(question) { line in
            let isOption = line.hasPrefix("OPTION") || line.hasPrefix("SETKEYINFO") || line.hasPrefix("SETTIMEOUT")
            return [isOption ? "ERR 99 unknown" : "OK"]
        }
        #expect(modest.reply == "passcode ")
        let mute = try speak(question) { [$0.hasPrefix("SETDESC") ? "ERR 99 unknown" : "OK"] }
        #expect(mute.reply == "can't ask: the pinentry says 'unknown'")
    }

    @Test(arguments: [["D early", "OK"], ["INQUIRE x"], ["hello"], ["D a%zz"]])
    func `what a pinentry may not say ends the question`(lines: [String]) throws {
        let last = lines[0].contains("%") ? "GETPIN" : "SETOK OK"
        let (_, reply) = try speak(question) { $0 == last ? lines : ["OK"] }
        #expect(reply == "can't ask: the pinentry says what is not understood")
    }

    @Test func `a confirmation that answers with data is not one`() throws {
        let asked = Question(.confirmation, text: "May it?")
        let (_, reply) = try speak(asked) { $0 == "CONFIRM" ? ["D x", "OK"] : ["OK"] }
        #expect(reply == "can't ask: the pinentry says what is not understood")
    }

    @Test func `a passcode has as many bytes as a vault accepts, and no more`() throws {
        let half = "D " + String(repeating: "p", count: Limits.passcodeBytes / 2)
        let full = try speak(question) { $0 == "GETPIN" ? [half, half, "OK"] : ["OK"] }
        #expect(full.reply.utf8.count == "passcode ".utf8.count + Limits.passcodeBytes)
        let more = try speak(question) { $0 == "GETPIN" ? [half, half, "D p", "OK"] : ["OK"] }
        #expect(more.reply == "more than \(Limits.passcodeBytes) bytes were typed")
    }

    // MARK: The screen

    @Test func `a variable that is no plain word is not sent`() {
        #expect(PinentryScreen { _ in nil }.options.isEmpty)
        #expect(PinentryScreen { _ in "a\nOPTION b" }.options.isEmpty)
        #expect(PinentryScreen { _ in "" }.options.isEmpty)
        #expect(PinentryScreen { _ in String(repeating: "x", count: 257) }.options.isEmpty)
        let variables = ["LC_ALL": "de", "LANG": "C", "DISPLAY": ":1"]
        let options = PinentryScreen { variables[$0] }.options
        #expect(options == ["OPTION display=:1", "OPTION lc-ctype=de", "OPTION lc-messages=de"])
    }

    @Test(
        arguments: [
            ("31", "OPTION parent-wid=31"), ("x11:1F", "OPTION parent-wid=31"), ("wayland:ab", nil), ("", nil),
            ("x11:", nil), ("1\nOPTION x", nil), ("-1", nil), ("99999999999", nil),
        ] as [(String, String?)]
    )
    func `a window is one of X11, and nothing else`(windowID: String, option: String?) {
        #expect(PinentryScreen.option(forWindow: windowID) == option)
    }
}
