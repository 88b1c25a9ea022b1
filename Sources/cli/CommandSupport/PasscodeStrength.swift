internal import ArgumentParser
package import CofferClient

/// The option that accepts a passcode which is guessed at once.
package struct PasscodeStrengthOptions: ParsableArguments {
    @Flag(help: "Accept a new passcode that is short or common.")
    package var weakPasscode = false

    package init() {}

    /// Refuses a new passcode that a guesser finds at once.
    ///
    /// The daemon does not check this: the choice is the person's.
    package func check(_ passcode: Secret) throws(CofferError) {
        guard !weakPasscode, let reason = PasscodeWeakness.reason(of: passcode) else { return }
        throw CofferError(
            .param,
            "the passcode is too weak: \(reason)",
            hint: "four words that have nothing to do with each other are good; --weak-passcode accepts this one"
        )
    }
}

/// What is weak about a passcode.
private enum PasscodeWeakness {
    static func reason(of passcode: Secret) -> String? {
        passcode.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { buffer -> String? in
                // Each character of UTF-8 has one byte that does not continue another.
                let characterCount = unsafe buffer.count { $0 & 0xC0 != 0x80 }
                if characterCount < Limits.leastPasscodeCharacters {
                    return "it has fewer than \(Limits.leastPasscodeCharacters) characters"
                }
                if unsafe buffer.allSatisfy({ unsafe $0 == buffer[0] }) { return "it is one character, repeated" }
                let isCommon = CommonPasscodes.all.contains { common in
                    unsafe common.utf8.elementsEqual(buffer.lazy.map(\.lowercaseASCII))
                }
                return isCommon ? "it is among the first that are guessed" : nil
            }
        }
    }
}

extension UInt8 {
    fileprivate var lowercaseASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
