import CofferClient
import CofferProvision
import Testing

/// What the command line says about the secrets of a program.
@Suite struct ProvisionsTests {
    private func provisions(_ assignments: [String], files: [String] = [], input: String? = nil) throws -> Provisions {
        try Provisions(assignments, variableFiles: [], files: files, input: input)
    }

    @Test func `each item is read once, in the order of its first mention`() throws {
        let provisions = try provisions(
            ["B=web/b#user", "A=web/a", "C=web/b#password"],
            files: ["F=web/f", "G=web/a"],
            input: "web/in"
        )
        #expect(provisions.items.map(\.path) == ["web/b", "web/a", "web/f", "web/in"])
    }

    @Test(arguments: [(["A=x", "A=y"], [String]()), (["A=x"], ["A=y"])])
    func `a variable that is set twice is refused, also by a file`(assignments: [String], files: [String]) {
        let error = #expect(throws: CofferError.self) { try provisions(assignments, files: files) }
        #expect(error?.code == .param)
        #expect(error?.message.contains("set twice") == true)
    }

    @Test(arguments: ["A", "=x", "1A=x", "A-B=x", "Ä=x", "A="])
    func `an assignment without a variable's name or an item is refused`(text: String) {
        let error = #expect(throws: CofferError.self) { try provisions([text]) }
        #expect(error?.code == .param)
    }

    @Test func `a value may have an equals sign, which ends no name`() throws {
        #expect(try provisions(["A=web/a=b"]).items.map(\.path) == ["web/a=b"])
    }
}
