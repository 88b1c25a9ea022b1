internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The question whether a line break belongs to a secret that came through a pipe: `echo` writes one.
enum LineEndQuestion {
    /// Asks, if there is a reason and a person.
    ///
    /// - Parameters:
    ///   - content: What came from standard input.
    ///   - name: The name of the item.
    /// - Returns: The content, without its line break if the person does not want it.
    static func ask(_ content: Secret, _ name: ItemName) throws(CofferError) -> Secret {
        guard content.isOneLine, wasTypedInShell, let terminal = try? SecretInput.openTerminal(orElse: "") else {
            return content
        }
        let isWanted = try Question(terminal: terminal.number)
            .decide("The secret of \(name.quoted) ends with a line break, as 'echo' writes one. Keep it?")
        return isWanted ? content : try content.withoutLineEnd()
    }

    /// Whether a person typed the command: a shell that reads commands from a terminal gives each its own process group,
    /// and one that runs a script does not.
    private static var wasTypedInShell: Bool {
        isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && getsid(getppid()) == getsid(0)
            && getpgid(getppid()) != getpgrp()
    }
}

extension Secret {
    /// Whether it has one line end, behind a text that is not empty.
    fileprivate var isOneLine: Bool {
        withBytes { bytes in
            let last = bytes.byteCount - 1
            guard last > 0, bytes.byte(at: last) == UInt8(ascii: "\n") else { return false }
            return !(0..<last).contains { bytes.byte(at: $0) == UInt8(ascii: "\n") || bytes.byte(at: $0) == 0 }
        }
    }
}
