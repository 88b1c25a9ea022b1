import CofferCore
import CofferCommandSupport
import Testing

/// Points in time on the command line.
@Suite struct MomentTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", Int64(0)), ("2027-01-31T12:00:00Z", 1_801_396_800),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
        ]
    )
    func `a date in UTC is the same everywhere`(text: String, seconds: Int64) throws {
        #expect(try Moment.milliseconds(text, of: "--expires") == seconds * 1000)
    }

    @Test(
        arguments: [
            "2027-02-29", "2027-13-01", "2027-00-10", "2027-01-31T24:00:00Z", "2027-1-31", "2027-01-31Z", "31.1.2027",
            "2027-01-31T12:00", "yesterday", "", "d", "-1d", "1.5h", "100000d", "1000y", "1 d",
        ]
    )
    func `what is no date and no time is refused, and the option is named`(text: String) {
        let error = #expect(throws: CofferError.self) { try Moment.milliseconds(text, of: "--expires") }
        #expect(error?.code == .param)
        #expect(error?.message.hasPrefix("--expires ") == true)
    }

    @Test(arguments: [("90s", Int64(90)), ("10m", 600), ("2h", 7200), ("30d", 2_592_000), ("4w", 2_419_200), ("0s", 0)])
    func `a time without a date is that long from now, or ago`(text: String, seconds: Int64) throws {
        #expect(Moment.seconds(text) == seconds)
        let before = Moment.now
        let future = try Moment.milliseconds(text, of: "--expires")
        let past = try Moment.milliseconds(text, of: "--since", .ago)
        let now = before...Moment.now
        #expect(now.contains(future - seconds * 1000))
        #expect(now.contains(past + seconds * 1000))
    }

    @Test func `tomorrow begins after today, and both at midnight`() throws {
        let (today, tomorrow) = (
            try Moment.milliseconds("today", of: "-", .ago), try Moment.milliseconds("tomorrow", of: "-", .ago)
        )
        // A day of 23 or 25 hours is one in which the clock is changed.
        #expect([23, 24, 25].contains((tomorrow - today) / 3_600_000))
        #expect(today <= Moment.now && Moment.now < tomorrow)
    }

    @Test(arguments: ["today", "tomorrow", "2027-01-31", "2027-03-28", "2027-10-31", "2028-02-29"])
    func `a date without a time contains the whole day`(day: String) throws {
        let (first, last) = (try Moment.milliseconds(day, of: "-", .ago), try Moment.milliseconds(day, of: "-"))
        #expect([23, 24, 25].contains((last + 1000 - first) / 3_600_000))
        guard day.contains("-") else { return }
        #expect(try Moment.milliseconds("\(day)T23:59:59", of: "-") == last)
        #expect(try Moment.milliseconds("\(day)T00:00:00", of: "-") == first)
    }

    @Test func `a year has 365 or 366 days`() throws {
        let days = (try Moment.milliseconds("1y", of: "-") - Moment.now) / 86_400_000
        #expect((364...366).contains(days))
    }
}
