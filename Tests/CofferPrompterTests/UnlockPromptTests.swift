import CofferClient
import CofferCore
import CofferPrompter
import CofferTestSupport
import Foundation
import Testing

/// The prompt that unlocks the vault, for all who wait for it.
@Suite struct UnlockPromptTests {
    let scene: Scene
    let prompter: Prompter

    init() throws {
        // Each process answers by its line of a file; without one it waits.
        let script = """
            echo $$ >>pids; echo OK
            answer=$(sed -n "$(wc -l <pids)p" answers)
            while read -r line; do
                echo "$line" >>log
                case $line in
                GETPIN) if [ -n "$answer" ]; then printf 'D %s\\nOK\\n' "$answer"; else exec sleep 300; fi ;;
                *) echo OK ;;
                esac
            done
            """
        scene = try Scene(script)
        prompter = try #require(scene.prompter)
        try answer([])
    }

    private func answer(_ passcodes: [String]) throws {
        try scene.directory.write(Array(passcodes.map { "\($0)\n" }.joined().utf8), to: "answers")
    }

    /// A prompt for a vault with a passcode.
    private func prompt(_ passcode: String, retry: CofferError.Retry = .never) -> UnlockPrompt {
        UnlockPrompt(by: prompter) { given, tell in
            tell(given.exposeText() == passcode ? nil : CofferError(.authFailed, "wrong passcode", retry: retry))
        }
    }

    /// Whether the pinentry waits for a person.
    private var isShown: Bool { scene.lines("log").last == "GETPIN" }

    private var errors: [String] { scene.lines("log").filter { $0.hasPrefix("SETERROR") } }

    @Test func `it is asked until the passcode is right, and what was wrong is shown`() throws {
        try answer(["one", "two", "three"])
        let prompt = prompt("three", retry: .afterDelay(seconds: 60))
        var outcomes: [String] = []
        _ = try prompt.join(question) { outcomes.append(words($0)) }
        #expect(scene.settles { !outcomes.isEmpty })
        #expect(outcomes == ["unlocked"])
        let error = "SETERROR Wrong passcode; the next passcode is accepted in 1 min"
        #expect(errors == [error, error])
    }

    @Test func `who asks while it is shown joins it, and all have one outcome`() throws {
        try answer(["wrong", "right"])
        let prompt = prompt("right")
        var outcomes: [String] = []
        for number in 0..<3 { _ = try prompt.join(question) { outcomes.append("\(number) \(words($0))") } }
        #expect(outcomes.isEmpty)
        #expect(scene.settles { outcomes.count == 3 })
        #expect(outcomes == ["0 unlocked", "1 unlocked", "2 unlocked"])
        #expect(scene.lines("pids").count == 2)
    }

    @Test func `it stays for those who wait, and goes with the last one`() throws {
        let prompt = prompt("right")
        var outcomes: [String] = []
        let one = try prompt.join(question) { outcomes.append("one \(words($0))") }
        let two = try prompt.join(question) { outcomes.append("two \(words($0))") }
        #expect(scene.settles { isShown })
        prompt.leave(one)
        prompt.leave(one)
        #expect(outcomes == ["one refused"])
        #expect(!scene.hasEnded("pids"))
        prompt.leave(two)
        #expect(outcomes == ["one refused", "two refused"])
        #expect(scene.settles { scene.hasEnded("pids") })
    }

    @Test func `it ends when the vault is unlocked in another way`() throws {
        let prompt = prompt("right")
        var outcomes: [String] = []
        for _ in 0..<2 { _ = try prompt.join(question) { outcomes.append(words($0)) } }
        #expect(scene.settles { isShown })
        prompt.end(.unlocked)
        #expect(outcomes == ["unlocked", "unlocked"])
        #expect(scene.settles { scene.hasEnded("pids") })
        prompt.end(.refused)
        #expect(outcomes.count == 2)
    }

    @Test func `an attempt that ends when nobody waits any more tells nobody`() throws {
        try answer(["one", "two"])
        var attempts: [(CofferError?) -> Void] = []
        let prompt = UnlockPrompt(by: prompter) { _, tell in attempts.append(tell) }
        var outcomes: [String] = []
        let one = try prompt.join(question) { outcomes.append("one \(words($0))") }
        #expect(scene.settles { attempts.count == 1 })
        prompt.leave(one)
        _ = try prompt.join(question) { outcomes.append("two \(words($0))") }
        attempts[0](nil)
        #expect(outcomes == ["one refused"])
        #expect(scene.settles { attempts.count == 2 })
        attempts[1](nil)
        #expect(outcomes == ["one refused", "two unlocked"])
    }

    @Test func `an error that no other passcode mends is the outcome of all`() throws {
        try answer(["one"])
        let prompt = UnlockPrompt(by: prompter) { _, tell in tell(CofferError(.io, "the daemon is gone")) }
        var outcomes: [String] = []
        for _ in 0..<2 { _ = try prompt.join(question) { outcomes.append(words($0)) } }
        #expect(scene.settles { outcomes.count == 2 })
        #expect(outcomes == ["the daemon is gone", "the daemon is gone"])
        #expect(scene.lines("pids").count == 1)
    }

    @Test func `no more wait for it than the bound`() throws {
        let prompt = prompt("right")
        for _ in 0..<Limits.waitingPrompts { _ = try prompt.join(question) { _ in } }
        let error = #expect(throws: CofferError.self) { _ = try prompt.join(question) { _ in } }
        #expect(error?.code == .notAvailable)
        prompt.end(.refused)
    }
}
