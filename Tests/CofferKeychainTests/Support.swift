import CofferCore
import CofferCrypto
import CofferDatabase
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferSystem
import Foundation
import Testing

/// A directory for one test, removed when the test ends.
final class TemporaryDirectory: Sendable {
    let path = NSTemporaryDirectory() + "coffer-keychain-\(UUID().uuidString)"

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

}

extension VaultKeys {
    func unlock(_ passcode: String = Template.passcode) throws {
        adopt(try unlockAttempt().perform(try SecretBytes(passcode)))
    }
}

/// A keychain in a vault of its own.
///
/// The store holds its database: let it go before another one is opened.
struct Fixture {
    let vault: Vault

    init(hasPasscode: Bool = true) throws { vault = try Vault(hasPasscode: hasPasscode) }

    func connect() throws -> Connection {
        let connection = try Connection(path: "\(try vault.directory.resolvedPath())/vault.sqlite")
        try connection.migrate(KeychainStore.migrations, applicationID: 1)
        return connection
    }

    func open(_ state: TestState) throws -> KeychainStore {
        KeychainStore(connection: try connect(), keys: try vault.open(state))
    }

    func open(with keys: VaultKeys) throws -> KeychainStore {
        KeychainStore(connection: try connect(), keys: keys)
    }
}

extension KeychainStore {
    func put(
        _ key: GenericPasswordKey,
        _ secret: String,
        _ accessibility: Accessibility = .whenUnlocked,
        now: Int64 = 1000
    ) throws {
        try put(
            key,
            secret: try SecretBytes(secret),
            accessibility: accessibility,
            kind: nil,
            created: nil,
            now: now
        )
    }

    /// The secret as text; `nil` where there is no such item.
    func text(of key: GenericPasswordKey) throws -> String? {
        switch try secret(of: key) {
        case .none: nil
        case .some(let secret): String(decoding: secret.exposeBytes(), as: UTF8.self)
        }
    }

    /// What a look at every row gives: the accounts of those that are well, and how many are not.
    func survey() throws -> (accounts: [String], damaged: Int) {
        var accounts: [String] = []
        var damaged = 0
        try forEachItem { outcome in
            switch outcome {
            case .success(let item): accounts.append(item.key.account)
            case .failure(let error):
                #expect(error.code == .decode)
                damaged += 1
            }
        }
        return (accounts.sorted(), damaged)
    }
}

func key(_ account: String, service: String = "service", group: String = "default") -> GenericPasswordKey {
    GenericPasswordKey(group: group, service: service, account: account)
}

/// The code of an error; `nil` where there is none.
func code(_ body: () throws -> Void) -> ErrorCode? {
    do {
        try body()
        return nil
    } catch let error as CofferError {
        return error.code
    } catch {
        Issue.record(error)
        return .internal
    }
}
