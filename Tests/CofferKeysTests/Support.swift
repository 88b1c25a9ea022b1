import CofferCore
import CofferCrypto
import CofferKeys
import CofferMemory
import CofferSystem
import Foundation
import Synchronization
import Testing

/// A directory for one test, removed when the test ends.
final class TemporaryDirectory: Sendable {
    let path = NSTemporaryDirectory() + "coffer-keys-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    func contents(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: path(name)).map { Array($0) } }

    /// Writes a file as the vault does: for its owner only.
    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o600) throws {
        let path = path(name)
        try Data(bytes).write(to: URL(filePath: path))
        try #require(chmod(path, mode) == 0)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }
}

extension SecretBytes {
    init(_ text: String) throws(SecretMemoryError) { try self.init(copying: Array(text.utf8).span.bytes) }
}

/// The states that a vault's keys can be brought into.
enum TestState: String, CaseIterable, Sendable {
    case noPasscode, beforeFirstUnlock, unlocked, locking, locked

    var name: VaultState {
        switch self {
        case .noPasscode: .noPasscode
        case .beforeFirstUnlock: .beforeFirstUnlock
        case .unlocked: .unlocked
        case .locking: .locking
        case .locked: .locked
        }
    }
}

/// A vault's files, made once: stretching a passcode takes its time.
struct Template: Sendable {
    static let passcode = "correct horse"
    static let withPasscode = Result { try Template(passcode) }
    static let withoutPasscode = Result { try Template(nil) }

    let keybag: [UInt8]
    let deviceKey: [UInt8]

    private init(_ passcode: String?) throws {
        let temporary = try TemporaryDirectory()
        let directory = try Directory(makingPath: temporary.path)
        let typed: SecretBytes? = if let passcode { try SecretBytes(passcode) } else { nil }
        _ = try VaultKeys.create(in: directory, passcode: typed, cost: .interactive)
        keybag = try #require(temporary.contents("keybag"))
        deviceKey = try #require(temporary.contents("device.key"))
    }
}

/// A vault in a directory of its own.
struct Vault {
    let temporary: TemporaryDirectory
    let directory: Directory

    init(hasPasscode: Bool = true) throws {
        temporary = try TemporaryDirectory()
        directory = try Directory(makingPath: temporary.path)
        let template = try (hasPasscode ? Template.withPasscode : Template.withoutPasscode).get()
        try temporary.write(template.keybag, to: "keybag")
        try temporary.write(template.deviceKey, to: "device.key")
    }

    func open() throws -> VaultKeys { try #require(try VaultKeys.open(in: directory)) }

    func open(_ state: TestState) throws -> VaultKeys {
        let keys = try open()
        switch state {
        case .noPasscode, .beforeFirstUnlock: break
        case .unlocked: try keys.unlock()
        case .locking:
            try keys.unlock()
            keys.beginLocking()
        case .locked:
            try keys.unlock()
            keys.beginLocking()
            keys.lock()
        }
        #expect(keys.state == state.name)
        return keys
    }

    /// How opening ends, where it does not give keys.
    func refusal() -> ErrorCode? {
        do throws(CofferError) {
            _ = try VaultKeys.open(in: directory)
            return nil
        } catch {
            return error.code
        }
    }
}

extension VaultKeys {
    func unlock(_ passcode: String = Template.passcode) throws {
        adopt(try unlockAttempt().perform(try SecretBytes(passcode)))
    }

    func attempt(_ passcode: String?) throws -> ErrorCode? {
        let typed: SecretBytes? = if let passcode { try SecretBytes(passcode) } else { nil }
        do throws(CofferError) {
            _ = try unlockAttempt().perform(typed)
            return nil
        } catch {
            return error.code
        }
    }
}

/// A key of an item or a file, as a test remembers it.
struct TestKey: Sendable {
    let key: [UInt8]
    let wrapped: [UInt8]

    init(_ new: consuming WrappedItemKey) {
        wrapped = new.wrapped
        key = new.takeKey().bytes.exposeBytes()
    }
}

/// What a class key wraps: files and keychain items.
enum Subject: Hashable, Sendable {
    case file(ProtectionClass)
    case item(Accessibility)

    static let all = ProtectionClass.allCases.map(Subject.file) + Accessibility.allCases.map(Subject.item)

    func newKey(from keys: VaultKeys, for id: ItemID) throws(KeyError) -> TestKey {
        switch self {
        case .file(let protectionClass): TestKey(try keys.newFileKey(for: protectionClass, of: id))
        case .item(let accessibility): TestKey(try keys.newItemKey(for: accessibility, of: id))
        }
    }

    func unwrap(_ wrapped: [UInt8], from keys: VaultKeys, for id: ItemID) throws(KeyError) -> [UInt8] {
        let key: SymmetricKey
        switch self {
        case .file(let protectionClass):
            key = try keys.fileKey(unwrapping: wrapped.span.bytes, for: protectionClass, of: id)
        case .item(let accessibility):
            key = try keys.itemKey(unwrapping: wrapped.span.bytes, for: accessibility, of: id)
        }
        return key.bytes.exposeBytes()
    }
}

/// The error of something that has to fail; `nil` where it does not.
func refusal<Value>(_ body: () throws(KeyError) -> Value) -> KeyError? {
    do throws(KeyError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Makes the Nth operation that changes the disk fail.
final class Saboteur: Sendable {
    private let count = Mutex(0)
    private let target: Int

    init(failing target: Int) { self.target = target }

    var hasStruck: Bool { count.withLock { $0 >= target } }

    var fileSystem: FileSystem {
        FileSystem(intercept: { (_) throws(SystemError) in
            let number = self.count.withLock { count in
                count += 1
                return count
            }
            if number == self.target { throw SystemError("sabotage", code: ENOSPC) }
        })
    }
}

/// The same numbers on every run: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
