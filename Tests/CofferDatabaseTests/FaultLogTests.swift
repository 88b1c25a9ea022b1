import CofferCore
import CofferDatabase
import Testing

@Suite struct `Damage that was met` {
    private let log = FaultLog()

    private func page(_ findings: [Finding] = [], next: String?) -> CheckPage {
        CheckPage(
            stage: .database,
            checkedCount: 1,
            sealedCount: 0,
            quarantinedCount: 0,
            findings: findings,
            cursor: next
        )
    }

    private func finding(isRepaired: Bool) -> Finding {
        Finding(.database, name: "a", .index, repair: .rewrite, isRepaired: isRepaired)
    }

    /// Two steps of a check.
    private func survey(_ findings: [Finding] = [], between: () -> Void = {}) throws {
        _ = try log.survey(from: nil) { page(findings, next: "2") }
        between()
        _ = try log.survey(from: "2") { page(next: nil) }
    }

    private let missing = CofferError(.itemNotFound, "there is no item 'a'")

    @Test func `turns a miss into a doubt, and no other error`() {
        #expect(log.doubt(missing).code == .itemNotFound)
        log.note("a page")
        #expect(log.doubt(missing).code == .decode)
        #expect(log.doubt(CofferError(.param, "x")).code == .param)
        #expect(throws: CofferError.self) { try log.refuseNew("'a'") }
        #expect(log.fault?.what.contains("a page") == true)
    }

    @Test func `ends with a check of everything that finds nothing, or repairs it all`() throws {
        log.note("a page")
        try survey()
        #expect(log.first == nil)
        log.note("a page")
        try survey([finding(isRepaired: true)])
        #expect(log.first == nil)
        try log.refuseNew("'a'")
    }

    @Test func `does not end with a check that leaves it, is not whole, or is overtaken by more`() throws {
        try survey([finding(isRepaired: false)])
        #expect(log.first != nil)
        _ = try log.survey(from: "2") { page(next: nil) }
        #expect(log.first != nil, "it did not begin at the beginning")
        _ = try log.survey(from: nil) { page(next: "2") }
        _ = try log.survey(from: "3") { page(next: nil) }
        #expect(log.first != nil, "it has left something out")
        try survey { log.note("another page") }
        #expect(log.first != nil, "what was met meanwhile may be in what was looked at before")
        try survey()
        #expect(log.first == nil)
    }

    @Test func `comes back where the repair is not on the disk`() throws {
        log.note("a page")
        try survey([finding(isRepaired: true)])
        log.settle(isDone: false)
        #expect(log.first == "a page")
        try survey()
        log.settle(isDone: true)
        log.settle(isDone: false)
        #expect(log.first == nil, "the failure of a later commit is no news of it")
    }
}
