internal import CFuse
internal import CofferCore

/// The command line of `coffer-mount`.
struct MountOptions {
    private(set) var mountPoint = ""
    private(set) var subject = Filesystem.Subject(socketPath: "", mountTime: timespec.now)
    private(set) var isReadOnly = false
    private(set) var isForeground = false

    init(_ arguments: [String]) throws(CofferError) {
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            switch word {
            case "--socket": subject.socketPath = try Self.value(of: word, &rest)
            case "--group": subject.group = try Self.value(of: word, &rest)
            case "--path": subject.prefix = try ItemName(try Self.value(of: word, &rest)).path
            case "--wait": subject.patience = .seconds(try Self.seconds(try Self.value(of: word, &rest)))
            case "--read-only": isReadOnly = true
            case "--foreground": isForeground = true
            default: mountPoint = try Self.place(word, after: mountPoint)
            }
        }
        if mountPoint.isEmpty || subject.socketPath.isEmpty {
            throw CofferError(.param, "a directory and --socket are needed", hint: "'coffer mount' passes both")
        }
    }

    private static func value(of word: String, _ rest: inout ArraySlice<String>) throws(CofferError) -> String {
        guard let value = rest.popFirst() else { throw CofferError(.param, "\(quotedForDisplay(word)) needs a value") }
        return value
    }

    private static func seconds(_ text: String) throws(CofferError) -> Int {
        guard let count = Int(text), (0...Limits.maximumLockDelaySeconds).contains(count) else {
            throw CofferError(.param, "\(quotedForDisplay(text)) is no number of seconds")
        }
        return count
    }

    private static func place(_ word: String, after other: String) throws(CofferError) -> String {
        guard !word.hasPrefix("-"), other.isEmpty else {
            throw CofferError(
                .param,
                "unknown argument \(quotedForDisplay(word))",
                hint: "'coffer mount --help' says more"
            )
        }
        return word
    }
}
