/// A scan of the log of a database: how far SQLite reads it, and whether it continues after that place.
///
/// SQLite silently stops at the first frame whose checksum is wrong, and takes that for the end that a power cut
/// leaves. The survey continues. A frame's checksum continues that of the frame before, so the frames after a damaged
/// one can still be checked, each with the checksum that is stored in its predecessor.
package struct LogSurvey: Sendable {
    /// The state of the log's header.
    package enum Header: Sendable {
        /// The log does not exist or is empty.
        case absent
        /// SQLite accepts the header.
        case whole
        /// SQLite does not accept the header, and data follows it.
        case damaged
    }

    /// The state of the log's header.
    package private(set) var header = Header.absent
    /// The salts of the header, or of the first frame after a damaged one.
    ///
    /// Every frame of a generation of the log repeats these eight bytes.
    private(set) var salts: UInt64?
    /// The frames up to the last commit that SQLite finds.
    package private(set) var committedFrames = 0
    /// Whether a synced transaction is lost, because a later one was committed.
    ///
    /// Only one transaction at a time can be unsynced, and its frames may reach the disk in any order. A run of intact
    /// frames with two commits belongs to two transactions, so the first of them was synced.
    package private(set) var hasLostCommits = false

    private var frameBytes = LogFormat.frameHeaderBytes

    /// The bytes that SQLite reads: the header, and the frames up to the last commit.
    package var committedBytes: Int64 {
        committedFrames == 0 ? 0 : Int64(LogFormat.headerBytes) + Int64(committedFrames) * Int64(frameBytes)
    }

    /// Scans a log.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the file; 0 if there is none.
    ///   - read: Reads the given number of bytes at an offset, or fewer at the end of the file.
    package init(byteCount: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]) rethrows {
        guard byteCount > LogFormat.headerBytes else { return }
        let header = LogFormat.Header(try read(0, LogFormat.headerBytes))
        guard let header else {
            try surveyDamaged(read)
            return
        }
        self.header = .whole
        salts = header.salts
        frameBytes += header.pageBytes
        var walk = FrameWalk(header: header)
        var offset = Int64(LogFormat.headerBytes)
        while true {
            let bytes = try read(offset, frameBytes * LogFormat.framesPerRead)
            let count = bytes.count / frameBytes
            if count == 0 { break }
            for number in 0..<count {
                unsafe walk.take(bytes.span.bytes.extracting(number * frameBytes..<(number + 1) * frameBytes))
            }
            offset += Int64(count * frameBytes)
        }
        committedFrames = walk.committedFrames
        hasLostCommits = walk.hasLostCommits
    }

    private mutating func surveyDamaged(_ read: (Int64, Int) throws -> [UInt8]) rethrows {
        let frame = try read(Int64(LogFormat.headerBytes), LogFormat.frameHeaderBytes)
        // SQLite syncs the header before it writes a frame: if there are frames, the header was intact.
        guard frame.contains(where: { $0 != 0 }) else { return }
        header = .damaged
        if frame.count == LogFormat.frameHeaderBytes { salts = LogFormat.integer(unsafe frame.span.bytes, at: 8) }
    }
}

/// A scan of the frames of a log, in order.
private struct FrameWalk {
    /// Its checksum is the one that the next frame continues.
    private var header: LogFormat.Header
    private var isIntact = true
    private var frameCount = 0
    private var commitsInRun = 0
    private(set) var committedFrames = 0
    private(set) var hasLostCommits = false

    init(header: LogFormat.Header) { self.header = header }

    mutating func take(_ frame: RawSpan) {
        frameCount += 1
        defer { header.checksum = LogFormat.integer(frame, at: 16) }
        guard isLinked(frame) else {
            isIntact = false
            commitsInRun = 0
            return
        }
        if LogFormat.integer(frame, at: 4) == 0 as UInt32 { return }
        if isIntact { return committedFrames = frameCount }
        commitsInRun += 1
        if commitsInRun == 2 { hasLostCommits = true }
    }

    private func isLinked(_ frame: RawSpan) -> Bool {
        // The frames of an earlier generation follow the current one, where they are not overwritten yet.
        guard LogFormat.integer(frame, at: 8) == header.salts, LogFormat.integer(frame, at: 0) != 0 as UInt32 else {
            return false
        }
        let (head, page) = (frame.extracting(first: 8), frame.extracting(droppingFirst: LogFormat.frameHeaderBytes))
        let former = LogFormat.checksum(header.checksum, of: head, isBigEndian: header.isBigEndian)
        return LogFormat.integer(frame, at: 16) == LogFormat.checksum(former, of: page, isBigEndian: header.isBigEndian)
    }
}

/// The format of SQLite's log: section 4 of its file format.
enum LogFormat {
    static let headerBytes = 32
    static let frameHeaderBytes = 24
    /// The number of frames that are read together.
    static let framesPerRead = 64

    private static let magic: UInt32 = 0x377f_0682
    private static let version: UInt32 = 3_007_000

    /// A valid header.
    struct Header {
        let salts: UInt64
        let pageBytes: Int
        let isBigEndian: Bool
        var checksum: UInt64

        init?(_ bytes: [UInt8]) {
            guard bytes.count == headerBytes else { return nil }
            let bytes = unsafe bytes.span.bytes
            let found: UInt32 = integer(bytes, at: 0)
            isBigEndian = found & 1 == 1
            pageBytes = Int(integer(bytes, at: 8) as UInt32)
            salts = integer(bytes, at: 16)
            checksum = integer(bytes, at: 24)
            guard found & ~1 == magic, integer(bytes, at: 4) == version, pageBytes.nonzeroBitCount == 1,
                512...65536 ~= pageBytes,
                checksum == LogFormat.checksum(of: bytes.extracting(first: 24), isBigEndian: isBigEndian)
            else { return nil }
        }
    }

    static func integer<Value: FixedWidthInteger & BitwiseCopyable>(_ bytes: RawSpan, at offset: Int) -> Value {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self).bigEndian
    }

    /// The checksum of bytes, the number of which must be a multiple of eight.
    ///
    /// - Parameter former: The checksum of the bytes before them.
    static func checksum(_ former: UInt64 = 0, of bytes: RawSpan, isBigEndian: Bool) -> UInt64 {
        var (one, two) = (UInt32(former >> 32), UInt32(truncatingIfNeeded: former))
        var offset = 0
        while offset + 8 <= bytes.byteCount {
            var low = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
            var high = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            (low, high) = isBigEndian ? (low.bigEndian, high.bigEndian) : (low.littleEndian, high.littleEndian)
            one = one &+ low &+ two
            two = two &+ high &+ one
            offset += 8
        }
        return UInt64(one) << 32 | UInt64(two)
    }
}
