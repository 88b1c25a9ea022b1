import CofferTestSupport
import Foundation
import Testing

/// Random operations on a mount and on a plain directory have the same outcomes.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct RandomOperationsTests {
    @Test func `five thousand random operations do the same as in a plain directory`() throws {
        let mount = try MountedVault()
        let plain = try TemporaryDirectory()
        let seed = UInt64.random(in: 1..<1_000_000)
        let twins = TwinDirectories(mount.path, plain.path, seed: seed)
        for number in 0..<5_000 {
            if let difference = twins.step() {
                Issue.record("seed \(seed), operation \(number): \(difference)")
                return
            }
        }
        #expect(twins.differences() == [], "seed \(seed)")
    }
}
