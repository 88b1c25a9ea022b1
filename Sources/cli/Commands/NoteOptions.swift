internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

/// What a person notes about a secret, as attributes of its keychain item.
struct NoteOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Until when it is good: 1y, 30d, tomorrow or a date.", valueName: "date"))
    var expires: String?

    @Option(help: ArgumentHelp("A note for people; never a secret.", valueName: "text"))
    var note: String?

    @Option(help: ArgumentHelp("A word to find it by; may be given several times.", valueName: "word"))
    var tag: [String] = []

    /// Whether nothing is noted.
    var isEmpty: Bool { expires == nil && note == nil && tag.isEmpty }

    func attributes() throws(CofferError) -> [KeychainAttribute: AttributeValue] {
        var attributes: [KeychainAttribute: AttributeValue] = [:]
        if let expires { attributes[.expiryDate] = .date(try Moment.milliseconds(expires, of: "--expires")) }
        if let note { attributes[.comment] = .text(try textArgument(note, of: "--note")) }
        attributes.warnOfPastExpiry()
        return attributes
    }

    /// The attribute `tags` of the user's own, with the words between spaces.
    func user() throws(CofferError) -> [AttributeName: String] {
        let words = try tagWords(tag)
        return words.isEmpty ? [:] : ["tags": words.joined(separator: " ")]
    }
}

/// The words of `--tag`.
func tagWords(_ words: [String]) throws(CofferError) -> [String] {
    try words.map { (word) throws(CofferError) in
        guard !word.isEmpty, !word.contains(where: \.isWhitespace) else {
            throw CofferError(.param, "--tag \(quotedForDisplay(word)): expected one word")
        }
        return try textArgument(word, of: "--tag")
    }
}

extension [KeychainAttribute: AttributeValue] {
    /// Warns if an item would be expired when it is stored, which is rarely meant.
    func warnOfPastExpiry() {
        guard case .date(let date)? = self[.expiryDate], date < Moment.now else { return }
        Output.warn(["the item has expired already: it was valid until \(Timestamp.text(date))"])
    }
}
