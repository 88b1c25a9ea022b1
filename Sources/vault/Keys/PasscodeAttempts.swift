internal import CofferCore
internal import CofferCrypto
internal import CofferMemory
internal import CofferSystem

/// The wrong passcodes since the last right one: the content of the file `attempts`.
struct PasscodeAttempts: Equatable, Sendable {
    static let fileName = "attempts"
    static let none = PasscodeAttempts(failures: 0, wrongTags: [])
    /// The value of an invalid file: one guess is left, after the longest delay.
    static let damaged = PasscodeAttempts(failures: Limits.passcodeAttempts - 1, wrongTags: [])

    private static let magic = Array("COFFERAT".utf8)
    private static let tagBytes = 32

    /// The number of wrong passcodes.
    private(set) var failures: Int
    /// Tags that identify repeated wrong passcodes: guessing from them is as expensive as from the keybag.
    private(set) var wrongTags: [[UInt8]]

    /// The count with one more, which is undone if the passcode turns out to be a repeated one.
    var withOneMore: PasscodeAttempts {
        PasscodeAttempts(failures: min(failures + 1, Limits.passcodeAttempts), wrongTags: wrongTags)
    }

    /// Whether the maximum is reached and each is known to be wrong: none was interrupted before it was answered.
    var areUsedUp: Bool { failures == Limits.passcodeAttempts && wrongTags.count == failures }

    /// The same number without tags.
    var withoutTags: PasscodeAttempts { PasscodeAttempts(failures: failures, wrongTags: []) }

    /// The count after a wrong passcode.
    func after(wrong tag: [UInt8]) -> PasscodeAttempts {
        wrongTags.contains(tag)
            ? self : PasscodeAttempts(failures: withOneMore.failures, wrongTags: wrongTags + [tag])
    }

    /// When the next passcode is accepted.
    enum Delay: Equatable, Sendable {
        case none
        case seconds(Int)
        case never
    }

    /// The delay after a number of failures.
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

    /// Why no passcode is accepted now; an invalid file can't be distinguished from nine interrupted guesses.
    var refusal: String {
        self == .damaged ? "nine wrong passcodes, or a damaged count of them" : "too many wrong passcodes"
    }

    // MARK: The file

    /// Stores the count: when this returns, it survives a power cut.
    ///
    /// It is written in place, so that a full disk does not lock the owner out.
    ///
    /// - Parameter subject: What has failed, in words, if it can't be stored.
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

    /// Creates the file, if it is missing, while there is space: later guesses then need none.
    func prepareFile(in directory: Directory, of vaultID: ItemID, _ deviceKey: DeviceKey) {
        if self == .damaged { return }
        if case .record? = try? Self.file(in: directory, of: vaultID, deviceKey).load() { return }
        // Without space, it is created by the first guess after there is space.
        try? store(in: directory, of: vaultID, deviceKey, orSay: "")
    }

    /// Reads the count; zero if there is no file.
    ///
    /// An invalid file is ``damaged``: it counts neither as zero nor as the end of all attempts.
    static func load(from directory: Directory, of vaultID: ItemID, _ deviceKey: DeviceKey) -> PasscodeAttempts {
        do throws(SystemError) {
            switch try file(in: directory, of: vaultID, deviceKey).load() {
            case .missing: return .none
            case .record(let record): return (try? PasscodeAttempts(reading: record)) ?? .damaged
            case .damaged: return .damaged
            }
        } catch {
            return .damaged
        }
    }

    private static func file(in directory: Directory, of vaultID: ItemID, _ deviceKey: DeviceKey) -> TwoSlotFile {
        TwoSlotFile(fileName, in: directory, mark: magic + [0, 1]) { slot in
            deviceKey.tag(for: "coffer attempts tag v1", byteCount: tagBytes, vaultID.bytes + slot)
        }
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
