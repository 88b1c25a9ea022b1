import CofferCore
import Testing

/// Section 8 of the semantics.
@Suite struct ErrorTests {
    private static let table: [(code: String, osStatus: Int, read: Int?, write: Int?)] = [
        ("itemNotFound", -25300, 260, 260),
        ("duplicateItem", -25299, 516, 516),
        ("interactionNotAllowed", -25308, 257, 513),
        ("interactionRequired", -25315, nil, nil),
        ("authFailed", -25293, nil, nil),
        ("missingEntitlement", -34018, nil, nil),
        ("param", -50, nil, nil),
        ("dataTooLarge", -25302, 263, 263),
        ("decode", -26275, 259, 259),
        ("notAvailable", -25291, nil, nil),
        ("diskFull", -34, 640, 640),
        ("unimplemented", -4, nil, nil),
    ]

    /// What the build answers beyond section 8.
    private static let additions = ["io": -36, "internal": -2070, "protocolViolation": -25257, "userCanceled": -128]

    @Test(arguments: table)
    func `each code of section 8 has its numbers`(code: String, osStatus: Int, read: Int?, write: Int?) {
        let code = ErrorCode(rawValue: code)
        #expect(code.osStatus == osStatus)
        #expect(CofferError(code, "").cocoaCode == read)
        for operation in [ItemOperation.write, .create, .proceed] {
            #expect(CofferError(code, "", operation: operation).cocoaCode == write)
        }
    }

    @Test func `there are no codes but these, and each has a number of its own`() {
        let codes = Set(ErrorCode.table.map(\.code.rawValue))
        #expect(codes == Set(Self.table.map(\.code)).union(Self.additions.keys))
        #expect(Set(ErrorCode.table.map(\.osStatus)).count == ErrorCode.table.count)
        for (code, osStatus) in Self.additions {
            #expect(ErrorCode(rawValue: code).osStatus == osStatus)
        }
    }

    @Test func `a code from a newer peer is kept`() {
        let code = ErrorCode(rawValue: "fromTheFuture")
        #expect(code.rawValue == "fromTheFuture")
        #expect(code.osStatus == ErrorCode.internal.osStatus)
        #expect(CofferError(code, "").cocoaCode == nil)
    }

    @Test func `two errors are equal when their codes are`() {
        #expect(CofferError(.param, "a", hint: "b") == CofferError(.param, "c", retry: .afterUnlock))
        #expect(CofferError(.param, "a") != CofferError(.decode, "a"))
    }

    @Test(
        arguments: [
            (.locked, .read, "can't read 'a': the vault is locked", 257),
            (.locked, .write, "can't write 'a': the vault is locked", 513),
            (.lockedExpired, .read, "can't read 'a': the vault is locked", 257),
            (.beforeFirstUnlock, .read, "can't read 'a': the vault is sealed until you unlock it", 257),
            (.beforeFirstUnlock, .create, "can't write 'a': the vault is sealed until you unlock it", 513),
        ] as [(VaultState, ItemOperation, String, Int)]
    )
    func `locked says what failed, why and what to do`(
        state: VaultState,
        operation: ItemOperation,
        message: String,
        cocoaCode: Int
    ) {
        let error = CofferError.locked("'a'", in: state, for: operation)
        #expect(error.code == .interactionNotAllowed)
        #expect(error.message == message)
        #expect(error.hint == "run 'coffer unlock' and repeat the command")
        #expect(error.retry == .afterUnlock)
        #expect(error.cocoaCode == cocoaCode)
    }
}
