internal import ArgumentParser

/// Options of the connection before the verb, as in `coffer --socket PATH list`.
enum LeadingOptions {
    private static let withValue = ["--socket", "--timeout"]
    private static let flags = ["--no-start"]

    /// The words with these options behind the verb, where the argument parser takes them.
    static func behindVerb(_ words: ArraySlice<String>, of root: any ParsableCommand.Type) -> ArraySlice<String> {
        var (options, rest): ([String], ArraySlice<String>) = ([], words)
        while let word = rest.first, !UnknownVerb.hasNoVerbs(root) {
            let count = withValue.contains(word) ? 2 : isComplete(word) ? 1 : 0
            if count == 0 || rest.count <= count { break }
            options += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
        if options.isEmpty { return words }
        let verb = UnknownVerb.path(in: rest, of: root)
        return (rest.prefix(verb) + options + rest.dropFirst(verb))[...]
    }

    private static func isComplete(_ word: String) -> Bool {
        flags.contains(word) || withValue.contains { word.hasPrefix($0 + "=") }
    }
}
