import CofferBackup
import Foundation
import Testing

@Suite struct ForgetPolicyTests {
    private let hour: Int64 = 3_600_000

    /// One each hour of 100 days, from a Monday on.
    private var dates: [Int64] { (0..<2400).map { 1_767_571_200_000 + Int64($0) * hour } }

    @Test func `the last ones are kept`() {
        var policy = ForgetPolicy()
        policy.last = 3
        #expect(policy.kept(of: dates) == [2397, 2398, 2399])
    }

    @Test func `the newest of each day, week, month and year is kept, and the newest of all always`() {
        var policy = ForgetPolicy()
        policy.daily = 7
        #expect(policy.kept(of: dates).count == 7)
        policy.weekly = 4
        #expect((9...11).contains(policy.kept(of: dates).count))
        policy = ForgetPolicy()
        policy.monthly = 12
        #expect(policy.kept(of: dates).count == 4)
        policy = ForgetPolicy()
        policy.yearly = 2
        #expect(policy.kept(of: dates) == [2399])
        #expect(ForgetPolicy().kept(of: dates) == [2399])
        #expect(ForgetPolicy().kept(of: []) == [])
    }
}
