internal import CofferCore
internal import CofferCrypto
internal import CofferMemory
internal import CofferSystem

/// The passcodes that were tried in vain since the last right one: what the file `attempts` says.
struct PasscodeAttempts: Equatable, Sendable {
    static let fileName = "attempts"
    static let none = PasscodeAttempts(failures: 0, wrongTags: [])
    /// What a count says that can't be read: one guess is left, after the longest delay.
    static let damaged = PasscodeAttempts(failures: Limits.passcodeAttempts - 1, wrongTags: [])

    private static let magic = Array("COFFERAT".utf8)
    private static let tagBytes = 32

    /// How many count.
    private(set) var failures: Int
    /// What tells the same wrong passcode again: as dear to guess by as the keybag itself.
    private(set) var wrongTags: [[UInt8]]

    /// With one more, which is taken back if it turns out to be nothing new.
    var withOneMore: PasscodeAttempts {
        PasscodeAttempts(failures: min(failures + 1, Limits.passcodeAttempts), wrongTags: wrongTags)
    }

    /// Whether there were as many as there may be, each of them known to be wrong: none was cut off before it was answered.
    var areUsedUp: Bool { failures == Limits.passcodeAttempts && wrongTags.count == failures }

    /// The same number, without what tells a wrong one again, or shows that it was one.
    var withoutTags: PasscodeAttempts { PasscodeAttempts(failures: failures, wrongTags: []) }

    /// After a wrong passcode.
    func after(wrong tag: [UInt8]) -> PasscodeAttempts {
        wrongTags.contains(tag)
            ? self : PasscodeAttempts(failures: withOneMore.failures, wrongTags: wrongTags + [tag])
    }

    /// When the next passcode is taken.
    enum Delay: Equatable, Sendable {
        case none
        case seconds(Int)
        case never
    }

    /// How long to wait after so many failures: section 7 of the semantics.
    static func delay(afterFailures failures: Int) -> Delay {
        switch failures {
        case ...3: .none
        case 4: .seconds(60)
        case 5: .seconds(5 * 60)
        case 6: .seconds(15 * 60)
        case 7: .seconds(60 * 60)
        case 8: .seconds(3 * 60 * 60)
        case 9: .seconds(8 * 60 * 60)
        default: .never
        }
    }

    /// Why no passcode is taken now; a damaged count looks like nine guesses that were cut off.
    var refusal: String {
        self == .damaged ? "nine wrong passcodes, or a damaged count of them" : "too many wrong passcodes"
    }

    // MARK: The file

    /// Stores the count: when this returns, it outlives a power cut.
    ///
    /// It is written in place, so that a person is let in on a full disk, too.
    ///
    /// - Parameter subject: What has failed, in words, where it can't be stored.
    func store(
        in directory: Directory,
        of vaultID: ItemID,
        _ deviceKey: DeviceKey,
        orSay subject: String
    ) throws(CofferError) {
        var writer = ByteWriter()
        write(to: &writer)
        do {
            try Self.file(in: directory, of: vaultID, deviceKey).store(writer.bytes)
        } catch {
            throw error.cofferError(subject)
        }
    }

    /// Makes the file, if it is missing or of version 1, while there may be room: the first guess needs none then.
    func prepareFile(in directory: Directory, of vaultID: ItemID, _ deviceKey: DeviceKey) {
        if self == .damaged { return }
        if case .record? = try? Self.file(in: directory, of: vaultID, deviceKey).load() { return }
        // Without room, the first guess that there is room for makes it.
        try? store(in: directory, of: vaultID, deviceKey, orSay: "")
    }

    /// Reads the count; none where there is no file.
    ///
    /// One that can't be read, or is not what was stored, is ``damaged``: not none, and not the end of all guesses either.
    static func load(from directory: Directory, of vaultID: ItemID, _ deviceKey: DeviceKey) -> PasscodeAttempts {
        do throws(SystemError) {
            switch try file(in: directory, of: vaultID, deviceKey).load() {
            case .missing: return .none
            case .record(let record): return (try? PasscodeAttempts(reading: record)) ?? .damaged
            case .damaged(let bytes): return PasscodeAttempts(version1: bytes, vaultID, deviceKey) ?? .damaged
            }
        } catch {
            return .damaged
        }
    }

    private static func file(in directory: Directory, of vaultID: ItemID, _ deviceKey: DeviceKey) -> TwoSlotFile {
        TwoSlotFile(fileName, in: directory, mark: magic + [0, 2]) { slot in
            deviceKey.tag(for: "coffer attempts tag v2", byteCount: tagBytes, vaultID.bytes + slot)
        }
    }

    /// Reads a file of version 1, which was replaced as a whole with each guess.
    private init?(version1 bytes: [UInt8], _ vaultID: ItemID, _ deviceKey: DeviceKey) {
        let body = Array(bytes.dropLast(Self.tagBytes))
        let tag = deviceKey.tag(for: "coffer attempts tag v1", byteCount: Self.tagBytes, vaultID.bytes + body)
        let mark = Self.magic + [0, 1]
        guard body.starts(with: mark), isEqualInConstantTime(Array(bytes.suffix(Self.tagBytes)), tag),
            let attempts = try? PasscodeAttempts(reading: Array(body.dropFirst(mark.count)))
        else { return nil }
        self = attempts
    }

    private func write(to writer: inout ByteWriter) {
        writer.write(UInt8(failures))
        writer.write(UInt8(wrongTags.count))
        for tag in wrongTags { writer.write(raw: tag) }
    }

    private init(reading bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        failures = Int(try reader.read(UInt8.self))
        wrongTags = []
        for _ in 0..<(try reader.read(UInt8.self)) { wrongTags.append(Array(try reader.readRaw(Self.tagBytes))) }
        guard reader.isAtEnd, wrongTags.count <= failures, failures <= Limits.passcodeAttempts else {
            throw ByteReader.Malformed()
        }
    }

    private init(failures: Int, wrongTags: [[UInt8]]) {
        self.failures = failures
        self.wrongTags = wrongTags
    }
}
