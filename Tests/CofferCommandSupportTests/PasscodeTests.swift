import ArgumentParser
import CofferCommandSupport
import CofferClient
import Testing

/// Passcodes that a guesser finds at once.
@Suite struct PasscodeTests {
    private func refusal(_ passcode: String, accepts: Bool = false) throws -> String? {
        var options = try PasscodeStrengthOptions.parse([])
        options.weakPasscode = accepts
        do { try options.check(try Secret(exposed: passcode)) } catch { return error.message }
        return nil
    }

    @Test(arguments: ["abc", "äöü", "日本語", "7777777", "aaaaaaaaaaaaaaaa", "1234", "PassWord", "LetMeIn", "qwertz"])
    func `a passcode that is short, repeated or common is refused`(passcode: String) throws {
        let message = try #require(try refusal(passcode))
        #expect(message.hasPrefix("the passcode is too weak: "))
        #expect(!message.contains(passcode), "no error repeats a passcode")
        #expect(try refusal(passcode, accepts: true) == nil)
    }

    @Test(arguments: ["ab1c", "äöüß", "correct battery horse", "password!x", "12345678901"])
    func `a passcode that heads no list is accepted`(passcode: String) throws {
        #expect(try refusal(passcode) == nil)
    }

    @Test func `the list has passcodes of four characters or more, in lower case, each once`() {
        let all = CommonPasscodes.all
        #expect(Set(all).count == all.count)
        for passcode in all {
            #expect(passcode == passcode.lowercased())
            #expect(passcode.count >= 4)
        }
    }
}
