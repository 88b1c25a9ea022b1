import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/FILES.md`.
@Suite struct FilesPageTests {
    private let page: Page

    init() throws { page = try Page("FILES.md") }

    @Test func `the table of classes is that of the code`() throws {
        let classes = ProtectionClass.allCases
        let rows = try page.table(["state"] + classes.map { "`\($0.rawValue)`" })
        let states = VaultState.allCases.filter { $0 != .noVault && $0 != .deviceKeyMissing }
        #expect(rows.map { $0[0] } == states.map { "`\($0.rawValue)`" })
        for (row, state) in zip(rows, states) {
            for (cell, protectionClass) in zip(row.dropFirst(), classes) {
                #expect(cell == Self.letters(of: protectionClass, in: state), "\(protectionClass) in \(state)")
            }
        }
    }

    private static func letters(of protectionClass: ProtectionClass, in state: VaultState) -> String {
        let operations: [(String, ItemOperation)] = [("R", .read), ("W", .write), ("N", .create), ("O", .proceed)]
        let letters = operations.filter { protectionClass.permits($0.1, in: state) }.map(\.0)
        return letters.isEmpty ? "–" : letters.joined(separator: " ")
    }

    @Test func `every reason of an error is on the page, with its sentence`() throws {
        let rows = try page.table(["reason", "what it means", "errno"])
        #expect(rows.map { $0[0].quotedWords } == ErrorReason.allCases.map { [$0.rawValue] })
        #expect(Set(rows.map { $0[2] }).count > rows.count / 2)
    }

    @Test func `the limits are those of the code`() throws {
        let text = page.text
        #expect(text.contains("writes \(Limits.framePayloadBytes) bytes at most"))
        #expect(text.contains("A file has \(Limits.fileBytes) at most"))
        let limits = try page.table(["limit", "value", "of"]).map { [$0[0].quotedWords[0], $0[1]] }
        let values = [
            ("handles", Limits.handles), ("openFiles", Limits.openFiles), ("links", Limits.links),
            ("linkTargetBytes", Limits.linkTargetBytes),
            ("extendedAttributeNameBytes", Limits.extendedAttributeNameBytes),
            ("extendedAttributeBytes", Limits.extendedAttributeBytes),
            ("extendedAttributes", Limits.extendedAttributes),
            ("extendedAttributesBytes", Limits.extendedAttributesBytes),
        ]
        #expect(limits == values.map { [$0.0, String($0.1)] })
    }
}
