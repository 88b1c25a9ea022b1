import CofferCommands
import Testing

@Suite struct WordListTests {
    @Test func `the list has 7776 different words of lower-case letters and hyphens`() {
        let words = WordList.text.description.split(separator: " ", omittingEmptySubsequences: false)
        #expect(words.count == 7776 && Set(words).count == 7776)
        let isPlain = words.allSatisfy { $0.wholeMatch(of: /[a-z][a-z-]{2,8}/) != nil }
        #expect(isPlain)
    }
}
