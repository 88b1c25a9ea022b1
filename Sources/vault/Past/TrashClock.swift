package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

/// The time as the machine has it.
package struct TrashMoment: Sendable {
    /// Milliseconds since 1970: anyone may have set this clock wrongly.
    package let wall: Int64
    /// Nanoseconds since the machine was started, suspended or not: this clock can't be set.
    package let boot: UInt64
    /// The boot; `nil` if it is unknown.
    package let bootID: String?

    package init(wall: Int64, boot: UInt64, bootID: String?) {
        self.wall = wall
        self.boot = boot
        self.bootID = bootID
    }
}

/// The time that has passed in the trash, in milliseconds.
///
/// Within one boot it is measured by the clock that can't be set. Between two boots only the wall clock knows, and it counts
/// for a day at most: a wrong clock keeps things too long rather than destroying them too early.
package struct TrashClock: Equatable {
    private static let version: UInt8 = 1
    /// As much as a time without the daemon counts at most, in milliseconds.
    package static let greatestGap: Int64 = 86_400_000
    /// More than passes: a row that has been changed may hold any number.
    static let greatestTime: Int64 = 1 << 53

    /// Milliseconds, from an arbitrary beginning.
    package let time: Int64
    private let wall: Int64
    private let boot: UInt64
    private let bootID: String

    /// A clock that begins now.
    package init(at moment: TrashMoment, time: Int64) {
        self.time = time
        wall = moment.wall
        boot = moment.boot
        bootID = moment.bootID ?? ""
    }

    /// The clock at a later moment.
    package func advanced(to moment: TrashMoment) -> TrashClock {
        let isSameBoot = !bootID.isEmpty && bootID == moment.bootID && moment.boot >= boot
        let passed =
            isSameBoot
            ? Int64(clamping: (moment.boot - boot) / 1_000_000)
            : min(max(0, moment.wall.subtractingReportingOverflow(wall).partialValue), Self.greatestGap)
        return TrashClock(at: moment, time: min(time.nearestSum(passed), Self.greatestTime))
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(time)
        writer.write(wall)
        writer.write(Int64(bitPattern: boot))
        writer.write(counted: bootID.utf8)
        return writer.bytes
    }

    /// - Throws: `Malformed` if they are truncated, too long, of an unknown version, or have impossible values.
    package init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        time = try reader.read()
        wall = try reader.read()
        boot = UInt64(bitPattern: try reader.read(Int64.self))
        bootID = try reader.readText()
        guard reader.isAtEnd, (0...Self.greatestTime).contains(time) else { throw ByteReader.Malformed() }
    }
}

extension PastStore {
    /// Moves the time in the trash on, within the open transaction.
    ///
    /// - Returns: The time, in milliseconds.
    package func advance(to moment: TrashMoment) throws -> Int64 {
        let clock = try storedClock()?.advanced(to: moment) ?? TrashClock(at: moment, time: try latestRemoval())
        try connection.execute(
            "INSERT OR REPLACE INTO catalog_settings (name, value) VALUES ('trashClock', ?)",
            .blob(unsafe AEAD.seal(clock.encoded.span.bytes, under: keys.catalog.past, context: Self.clockContext))
        )
        return clock.time
    }

    /// The time in the trash at a moment, which is not stored.
    package func time(at moment: TrashMoment) throws -> Int64 {
        try storedClock()?.advanced(to: moment).time ?? latestRemoval()
    }

    /// - Returns: `nil` if there is none, or a damaged one: then time begins with the latest removal.
    private func storedClock() throws -> TrashClock? {
        try connection.row("SELECT value FROM catalog_settings WHERE name = 'trashClock'") { row in
            try row.withBlob(0) { sealed in
                let opened = try? AEAD.open(sealed, under: self.keys.catalog.past, context: Self.clockContext)
                    .exposeBytes()
                return opened.flatMap { try? TrashClock(decoding: $0) }
            }
        } ?? nil
    }

    private func latestRemoval() throws -> Int64 {
        try connection.row(
            "SELECT max(time) FROM past WHERE reason = 2 AND time BETWEEN 0 AND ?",
            .integer(TrashClock.greatestTime)
        ) { try $0.optionalInteger(0) ?? 0 } ?? 0
    }

    private static let clockContext = Array("coffer trash clock v1".utf8)
}
