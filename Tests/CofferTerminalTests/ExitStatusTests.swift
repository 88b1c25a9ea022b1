import CofferTerminal
import CofferCore
import Testing

@Suite struct `The exit status` {
    /// The table of the command line's page, and what each error means by it.
    @Test(
        arguments: [
            ("itemNotFound", 66), ("duplicateItem", 73), ("interactionNotAllowed", 75), ("interactionRequired", 77),
            ("authFailed", 77), ("missingEntitlement", 77), ("param", 64), ("dataTooLarge", 64), ("decode", 65),
            ("notAvailable", 69), ("diskFull", 74), ("io", 74), ("unimplemented", 76), ("protocolViolation", 76),
            ("userCanceled", 76),
            ("internal", 70), ("aCodeOfALaterVersion", 76), ("", 76),
        ] as [(String, Int32)]
    )
    func `of an error is that of the page`(code: String, expected: Int32) {
        #expect(ExitStatus(ErrorCode(rawValue: code)).rawValue == expected)
    }

    @Test func `is tested for every code that there is`() {
        #expect(ErrorCode.table.count == 16)
        #expect(!ErrorCode.table.contains { ExitStatus($0.code) == .done }, "no error looks like success")
    }

    @Test func `has the numbers of the page and no others`() {
        let numbers: [Int32] = [0, 64, 65, 66, 69, 70, 73, 74, 75, 76, 77, 126, 127]
        #expect(ExitStatus.allCases.map(\.rawValue).sorted() == numbers)
    }
}
