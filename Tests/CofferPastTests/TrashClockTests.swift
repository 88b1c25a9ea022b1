import CofferCore
import CofferPast
import Testing

/// Nothing is destroyed early because a clock is wrong.
@Suite struct TrashClockTests {
    private static let day: Int64 = 86_400_000
    private static let now: Int64 = 1_795_295_158_066

    private func moment(_ wall: Int64, boot milliseconds: Int64, _ bootID: String? = "one") -> TrashMoment {
        TrashMoment(wall: wall, boot: UInt64(milliseconds) * 1_000_000, bootID: bootID)
    }

    private var start: TrashClock { TrashClock(at: moment(Self.now, boot: 1000), time: 50) }

    @Test(arguments: [-100, 0, 1, 36_500])
    func `within a boot the wall clock counts for nothing`(days: Int64) {
        let later = start.advanced(to: moment(Self.now + days * Self.day, boot: 1000 + 3 * Self.day))
        #expect(later.time == 50 + 3 * Self.day)
    }

    @Test(arguments: [(-1, 0), (0, 0), (1, 1), (2, 1), (36_500, 1)])
    func `a time without the daemon counts for a day at most, and never backwards`(days: Int64, counted: Int64) {
        let later = start.advanced(to: moment(Self.now + days * Self.day, boot: 5, "two"))
        #expect(later.time == 50 + counted * Self.day)
    }

    @Test(arguments: [Int64.min, Int64.max, 0])
    func `an impossible date does no harm`(wall: Int64) {
        let later = start.advanced(to: moment(wall, boot: 5, "two"))
        #expect((50...50 + Self.day).contains(later.time))
        #expect(later.advanced(to: moment(Self.now, boot: 5, "three")).time <= later.time + Self.day)
    }

    @Test(arguments: [UInt64.max, UInt64.max / 2])
    func `a clock at its end stands still and is read again`(boot: UInt64) throws {
        let last = start.advanced(to: TrashMoment(wall: .max, boot: boot, bootID: "one"))
            .advanced(to: TrashMoment(wall: .max, boot: boot, bootID: "one"))
        #expect(last.time >= start.time)
        #expect(try TrashClock(decoding: last.encoded) == last)
    }

    @Test func `a machine that does not say its boot counts by the wall clock, for a day at most`() {
        let unknown = TrashClock(at: moment(Self.now, boot: 1000, nil), time: 0)
        #expect(unknown.advanced(to: moment(Self.now + 1000, boot: 1000 + 9 * Self.day, nil)).time == 1000)
        #expect(unknown.advanced(to: moment(Self.now + 9 * Self.day, boot: 2000, nil)).time == Self.day)
    }

    @Test func `it is read as it was written, and a damaged one is none`() throws {
        let clock = start
        #expect(try TrashClock(decoding: clock.encoded) == clock)
        for count in 0..<clock.encoded.count {
            #expect(throws: ByteReader.Malformed.self) { try TrashClock(decoding: Array(clock.encoded.prefix(count))) }
        }
        #expect(throws: ByteReader.Malformed.self) { try TrashClock(decoding: clock.encoded + [0]) }
    }
}
