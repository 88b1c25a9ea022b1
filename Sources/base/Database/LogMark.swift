internal import CofferCore

/// The end of the log of an open database.
package struct LogPosition: Hashable, Sendable {
    let salts: UInt64
    let frameCount: UInt32
    /// Whether all of it is in the database file as well, and synced.
    package let isBackfilled: Bool
}

/// The acknowledged end of the log, stored beside the database.
///
/// It is written after each commit and not synced, so it may be older than the log, but never newer.
package struct LogMark: Hashable, Sendable {
    /// The size of a mark.
    package static let byteCount = 40

    private static let magic = Array("COFFERLM".utf8)
    private static let version: UInt16 = 1
    private static let backfilledFlag: UInt16 = 1
    private static let deferringFlag: UInt16 = 2

    fileprivate let position: LogPosition
    /// A number in the database that only grows, at the time of the mark; 0 if it is unknown.
    package let number: Int64
    /// Whether commits of this generation of the log may be deferred: several of the latest may be lost, in any order.
    package let permitsDeferring: Bool

    /// Creates a mark.
    package init(_ position: LogPosition, number: Int64, permitsDeferring: Bool = false) {
        self.position = position
        self.number = number
        self.permitsDeferring = permitsDeferring
    }

    /// The same mark without the number.
    package var withoutNumber: LogMark { LogMark(position, number: 0, permitsDeferring: permitsDeferring) }

    /// Whether it is of the same generation of the log as a position.
    package func isOfGeneration(of other: LogPosition) -> Bool { position.salts == other.salts }

    /// The serialised mark.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(Self.version)
        writer.write((position.isBackfilled ? Self.backfilledFlag : 0) | (permitsDeferring ? Self.deferringFlag : 0))
        writer.write(position.salts)
        writer.write(position.frameCount)
        writer.write(number)
        writer.write(Self.checksum(of: writer.bytes))
        return writer.bytes
    }

    /// Parses a mark.
    ///
    /// - Parameter bytes: What is kept.
    /// - Returns: `nil` if it is not valid, which counts as none.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else { return nil }
        let checksum = Self.checksum(of: Array(bytes.prefix(Self.byteCount - 8)))
        var reader = ByteReader(Array(bytes.dropFirst(Self.magic.count)))
        do {
            guard try reader.read(UInt16.self) == Self.version else { return nil }
            let flags = try reader.read(UInt16.self)
            let isBackfilled = flags & Self.backfilledFlag != 0
            permitsDeferring = flags & Self.deferringFlag != 0
            position = LogPosition(salts: try reader.read(), frameCount: try reader.read(), isBackfilled: isBackfilled)
            number = try reader.read()
            guard try reader.read() == checksum else { return nil }
        } catch {
            return nil
        }
    }

    private static func checksum(of bytes: [UInt8]) -> UInt64 {
        LogFormat.checksum(of: unsafe bytes.span.bytes, isBigEndian: true)
    }
}

extension LogSurvey {
    /// What to do with a log before SQLite reads it.
    package enum Verdict: Hashable, Sendable {
        /// Nothing: SQLite finds everything that was acknowledged, as far as that can be known.
        case sound
        /// It is damaged, but all of it is in the database file: its pages would only hide newer ones.
        case superfluous
        /// Acknowledged transactions are after the damage, or missing.
        case damaged
    }

    /// Decides what to do with the log.
    ///
    /// - Parameter mark: The mark; `nil` if there is none, or it can't be read.
    /// - Returns: The verdict. A log that is absent, or of another generation than the mark, is sound: the number in
    ///   the database shows whether it has what was acknowledged.
    package func verdict(_ mark: LogMark?) -> Verdict {
        if header == .absent { return .sound }
        // The position, if the mark is of this generation.
        let marked = mark.flatMap { $0.position.salts == salts ? $0.position : nil }
        let isShort = header == .damaged || committedFrames < Int(marked?.frameCount ?? 0)
        if let marked, marked.isBackfilled, isShort { return .superfluous }
        // A power cut may have kept later ones of the deferred commits, and not the first.
        let mayLoseCommits = marked != nil && mark?.permitsDeferring == true
        return isShort || hasLostCommits && !mayLoseCommits ? .damaged : .sound
    }

    /// The mark of a log that ends with its last commit.
    package var endMark: LogMark? {
        guard header == .whole, let salts else { return nil }
        let position = LogPosition(salts: salts, frameCount: UInt32(clamping: committedFrames), isBackfilled: false)
        return LogMark(position, number: 0)
    }
}
