import CofferBackupCommands
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// The state directory that a vault is restored to.
@Suite struct RestoredStateTests {
    @Test(
        arguments: [(0o700, true), (0o755, true), (0o775, false), (0o777, false), (0o1777, false)] as [(mode_t, Bool)]
    )
    func `is refused if others can write it`(mode: mode_t, isUsed: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("state")
        try #require(mkdir(path, 0o700) == 0 && chmod(path, mode) == 0)
        let refusal: CofferError?
        do throws(CofferError) {
            _ = try RestoredState(path)
            refusal = nil
        } catch {
            refusal = error
        }
        #expect((refusal == nil) == isUsed)
        guard let refusal else { return }
        #expect(refusal.message.contains("mode \(String(format: "%04o", mode))"), "\(refusal.message)")
        #expect(refusal.hint == "chmod go-w '\(path)'")
    }
}
