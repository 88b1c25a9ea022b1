internal import CFuse
internal import Glibc

extension timespec {
    /// A time from nanoseconds since 1970.
    init(nanoseconds: Int64) {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        // The rest is never negative, also before 1970.
        self.init(tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_nsec: Int(rest < 0 ? rest + 1_000_000_000 : rest))
    }

    /// Nanoseconds since 1970; the first or the last that 64 bits hold, for a date before 1677 or after 2262.
    var nanoseconds: Int64 { Int64(clamping: Int128(tv_sec) * 1_000_000_000 + Int128(tv_nsec)) }

    /// The current time in nanoseconds since 1970.
    static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return time.nanoseconds
    }
}
