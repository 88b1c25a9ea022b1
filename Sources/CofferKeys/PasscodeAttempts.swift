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
    private static let version: UInt16 = 1
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

    private static func tag(of body: [UInt8], _ vaultID: ItemID, _ deviceKey: DeviceKey) -> [UInt8] {
        deviceKey.tag(for: "coffer attempts tag v1", byteCount: tagBytes, vaultID.bytes + body)
    }

    /// Stores the count: when this returns, it outlives a power cut.
    ///
    /// - Parameter subject: What has failed, in words, where it can't be stored.
    func store(
        in directory: Directory,
        of vaultID: ItemID,
        _ deviceKey: DeviceKey,
        orSay subject: String
    ) throws(CofferError) {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(Self.version)
        writer.write(UInt8(failures))
        writer.write(UInt8(wrongTags.count))
        for tag in wrongTags { writer.write(raw: tag) }
        let bytes = writer.bytes + Self.tag(of: writer.bytes, vaultID, deviceKey)
        do {
            unsafe try directory.replace(Self.fileName, with: bytes.span.bytes)
        } catch {
            throw error.cofferError(subject)
        }
    }

    /// Reads the count; none where there is no file.
    ///
    /// One that can't be read, or is not what was stored, is ``damaged``: not none, and not the end of all guesses either.
    static func load(from directory: Directory, of vaultID: ItemID, _ deviceKey: DeviceKey) -> PasscodeAttempts {
        let bytes: [UInt8]?
        do { bytes = try directory.contents(of: fileName, limit: maximumBytes) } catch { return .damaged }
        guard let bytes else { return .none }
        let body = Array(bytes.dropLast(tagBytes))
        guard let attempts = try? PasscodeAttempts(reading: body),
            isEqualInConstantTime(Array(bytes.suffix(tagBytes)), tag(of: body, vaultID, deviceKey))
        else { return .damaged }
        return attempts
    }

    private static let maximumBytes = magic.count + 4 + (Limits.passcodeAttempts + 1) * tagBytes

    private init(reading bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.readRaw(Self.magic.count).elementsEqual(Self.magic),
            try reader.read(UInt16.self) == Self.version
        else { throw ByteReader.Malformed() }
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
