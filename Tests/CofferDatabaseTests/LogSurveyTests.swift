import CofferDatabase
import Foundation
import Testing

/// The log of a database that was killed: what a byte changed in it does, and what the survey says of it.
@Suite struct LogSurveyTests {
    private static let frameBytes = 4096 + 24

    /// A database and its log, as a kill leaves them.
    private struct Killed {
        let database: [UInt8]
        let log: [UInt8]
        let mark: LogMark
        /// The mark of the transaction before the last.
        let formerMark: LogMark
        /// The frames up to each commit.
        let commits: [Int]
        /// The frames of what was committed before these.
        let formerFrames: Int
        let names: [String]
    }

    private static let fresh = Result { try killed(restarting: false) }
    private static let restarted = Result { try killed(restarting: true) }

    /// - Parameter restarting: Whether the log was checkpointed, and begins again over its old frames.
    private static func killed(restarting: Bool) throws -> Killed {
        let directory = try TemporaryDirectory()
        let connection = try Connection.migrated(directory.path())
        if restarting {
            for number in 0..<12 { try connection.add("former-\(number)", bytes: 3000) }
            try connection.checkpoint()
        }
        let formerFrames = restarting ? 0 : survey(try directory.contents("vault.sqlite-wal")).committedFrames
        var commits: [Int] = []
        var marks: [LogMark] = []
        for number in 0..<5 {
            try connection.transaction {
                for part in 0..<3 { try connection.add("item-\(number)-\(part)", bytes: 3000) }
            }
            let mark = LogMark(try #require(connection.logPosition), number: Int64(number))
            marks.append(mark)
            let bytes = try directory.contents("vault.sqlite-wal")
            commits.append(survey(bytes).committedFrames)
        }
        return Killed(
            database: try directory.contents(),
            log: try directory.contents("vault.sqlite-wal"),
            mark: marks[4],
            formerMark: marks[3],
            commits: commits,
            formerFrames: formerFrames,
            names: try connection.names
        )
    }

    private static func survey(_ log: [UInt8]) -> LogSurvey {
        LogSurvey(byteCount: Int64(log.count)) { offset, count in
            Array(log.dropFirst(Int(offset)).prefix(count))
        }
    }

    /// What SQLite finds of a database with that log.
    private func namesRead(_ killed: Killed, _ log: [UInt8]) throws -> [String] {
        let directory = try TemporaryDirectory()
        try directory.write(killed.database)
        try directory.write(log, to: "vault.sqlite-wal")
        return try Connection(path: directory.path()).names
    }

    /// Where the header is flipped, and the fields, the beginning and the end of a frame.
    private static let headerPlaces = Array(0..<32)
    private static let framePlaces = [0, 3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23, 24, 25, 2000, 4119]

    private func expectFound(_ killed: Killed, _ offset: Int, _ frame: Int) throws {
        var log = killed.log
        log[offset] ^= 1
        let survey = Self.survey(log)
        #expect(survey.verdict(killed.mark) == .damaged, "byte \(offset)")
        #expect(
            survey.committedFrames == ([killed.formerFrames] + killed.commits).last { $0 < frame } ?? 0,
            "byte \(offset)"
        )
        // Without a mark, the last transaction can't be distinguished from a torn one.
        let isLast = frame > killed.commits[2]
        if !isLast { #expect(survey.verdict(nil) == .damaged, "byte \(offset) without a mark") }
    }

    @Test(arguments: [false, true])
    func `a byte changed in the header of the log is damage, and SQLite would say nothing`(isRestarted: Bool) throws {
        let killed = try (isRestarted ? Self.restarted : Self.fresh).get()
        for offset in Self.headerPlaces { try expectFound(killed, offset, 0) }
        var log = killed.log
        log[20] ^= 1
        #expect(try namesRead(killed, killed.log) == killed.names)
        #expect((try? namesRead(killed, log)) != killed.names)
    }

    @Test(arguments: [false, true])
    func `a byte changed in a frame of the log is damage, whichever frame and field it is in`(isRestarted: Bool) throws
    {
        let killed = try (isRestarted ? Self.restarted : Self.fresh).get()
        let last = try #require(killed.commits.last)
        for frame in 1...last {
            for place in Self.framePlaces { try expectFound(killed, 32 + (frame - 1) * Self.frameBytes + place, frame) }
        }
        var log = killed.log
        log[32 + killed.commits[0] * Self.frameBytes + 100] ^= 1
        #expect(try namesRead(killed, log).count < killed.names.count)
    }

    @Test func `a byte changed in what an earlier generation of the log has left is no damage`() throws {
        let killed = try Self.restarted.get()
        let live = 32 + (killed.commits.last ?? 0) * Self.frameBytes
        try #require(killed.log.count > live + Self.frameBytes)
        for offset in stride(from: live, to: killed.log.count, by: 397) {
            var log = killed.log
            log[offset] ^= 1
            #expect(Self.survey(log).verdict(killed.mark) == .sound, "byte \(offset)")
            #expect(Self.survey(log).verdict(nil) == .sound, "byte \(offset)")
        }
    }

    @Test(arguments: [false, true])
    func `a transaction that was cut off before it was acknowledged is no damage`(isRestarted: Bool) throws {
        let killed = try (isRestarted ? Self.restarted : Self.fresh).get()
        let (start, end) = (32 + killed.commits[3] * Self.frameBytes, 32 + killed.commits[4] * Self.frameBytes)
        for offset in stride(from: start, through: end, by: 503) {
            let log = Array(killed.log.prefix(offset))
            #expect(Self.survey(log).verdict(killed.formerMark) == .sound, "cut at \(offset)")
            #expect(Self.survey(log).verdict(nil) == .sound, "cut at \(offset)")
        }
    }

    @Test func `a transaction whose sectors came to the disk in another order is no damage before it is acknowledged`()
        throws
    {
        let killed = try Self.fresh.get()
        let frames = killed.commits[4] - killed.commits[3]
        try #require(frames > 2)
        for missing in 1..<(1 << min(frames, 8)) {
            var log = killed.log
            for frame in 0..<frames where missing & (1 << frame) != 0 {
                let start = 32 + (killed.commits[3] + frame) * Self.frameBytes
                log.replaceSubrange(start..<start + Self.frameBytes, with: repeatElement(0, count: Self.frameBytes))
            }
            #expect(Self.survey(log).verdict(killed.formerMark) == .sound, "without \(missing)")
            #expect(Self.survey(log).verdict(nil) == .sound, "without \(missing)")
        }
    }

    @Test func `a log that is cut off at the end of an earlier transaction is damaged by its mark`() throws {
        let killed = try Self.fresh.get()
        for frames in killed.commits.dropLast() {
            let survey = Self.survey(Array(killed.log.prefix(32 + frames * Self.frameBytes)))
            #expect(survey.verdict(killed.mark) == .damaged)
            #expect(survey.committedFrames == frames)
        }
    }

    @Test(arguments: [0, 1, 20, 32]) func `a log without a frame is none`(count: Int) throws {
        let killed = try Self.fresh.get()
        #expect(Self.survey(Array(killed.log.prefix(count))).verdict(nil) == .sound)
        #expect(Self.survey([UInt8](repeating: 0, count: count * 200)).verdict(nil) == .sound)
    }

    @Test func `damage in a log that was written back hides newer pages, so the log is superfluous`() throws {
        let directory = try TemporaryDirectory()
        let connection = try Connection.migrated(directory.path())
        for number in 0..<4 { try connection.add("item-\(number)", bytes: 3000) }
        try connection.checkpoint()
        let mark = LogMark(try #require(connection.logPosition), number: 1)
        let log = try directory.contents("vault.sqlite-wal")
        #expect(Self.survey(log).verdict(mark) == .sound)
        let end = Int(Self.survey(log).committedBytes)
        for offset in [0, 16, 25, 40, 60, end - Self.frameBytes + 30] {
            var damaged = log
            damaged[offset] ^= 1
            #expect(Self.survey(damaged).verdict(mark) == .superfluous, "byte \(offset)")
        }
        // What comes next is of another generation, which the mark says nothing of.
        try connection.add("next")
        let next = try directory.contents("vault.sqlite-wal")
        #expect(Self.survey(next).verdict(mark) == .sound)
        #expect(LogMark(try #require(connection.logPosition), number: 1) != mark)
    }

    @Test func `a mark comes back as it was, and is none with any byte of it changed`() throws {
        let mark = try Self.fresh.get().mark
        #expect(mark.encoded.count == LogMark.byteCount)
        #expect(LogMark(decoding: mark.encoded) == mark)
        for offset in 0..<LogMark.byteCount {
            var bytes = mark.encoded
            bytes[offset] ^= 1
            #expect(LogMark(decoding: bytes) == nil, "byte \(offset)")
        }
        #expect(LogMark(decoding: Array(mark.encoded.dropLast())) == nil)
    }

    @Test func `a checkpoint leaves the whole content in the database file, and one that truncates an empty log`()
        throws
    {
        let directory = try TemporaryDirectory()
        let connection = try Connection.migrated(directory.path())
        try connection.add("one")
        try connection.checkpoint()
        try directory.copy("vault.sqlite", to: "alone.sqlite")
        #expect(try Connection(path: directory.path("alone.sqlite")).names == ["one"])
        try connection.checkpoint(truncates: true)
        #expect(try directory.contents("vault.sqlite-wal").isEmpty)
        #expect(connection.logPosition == nil)
        try connection.transaction { #expect(failure { try connection.checkpoint() }?.kind == .misuse) }
    }

    @Test func `a log grows ahead of its frames, so that most commits keep its size`() throws {
        let directory = try TemporaryDirectory()
        let connection = try Connection.migrated(directory.path())
        try connection.add("first")
        for _ in 0..<2 {
            var sizes: [Int] = []
            for number in 0..<100 {
                try connection.add("item-\(number)")
                let log = try directory.contents("vault.sqlite-wal")
                sizes.append(log.count)
                let frames = Int(Self.survey(log).committedBytes)
                #expect(frames..<(frames + 512 << 10) ~= log.count)
                #expect(log[frames...].allSatisfy { $0 == 0 })
            }
            #expect(Set(sizes).count < 10, "\(sizes)")
            try connection.execute("DELETE FROM items")
            // So a lock leaves it.
            try connection.checkpoint(truncates: true)
        }
    }

    @Test func `a log that has grown is checkpointed automatically`() throws {
        let directory = try TemporaryDirectory()
        let connection = try Connection.migrated(directory.path())
        for number in 0..<4 { try connection.add("item-\(number)", bytes: 1_500_000) }
        #expect(try directory.contents("vault.sqlite-wal").count < 8 << 20)
    }
}
