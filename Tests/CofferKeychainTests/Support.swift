import CofferCore
import CofferCrypto
import CofferDatabase
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferPast
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// A keychain in a vault of its own.
///
/// The store holds its database: let it go before another one is opened.
struct Fixture {
    let vault: Vault

    init(hasPasscode: Bool = true) throws { vault = try Vault(hasPasscode: hasPasscode) }

    /// Opens the database, whatever its schema is.
    func connectUnchecked() throws -> Connection {
        try Connection(path: "\(try vault.directory.resolvedPath())/vault.sqlite")
    }

    func connect() throws -> Connection {
        let connection = try connectUnchecked()
        try connection.migrate(PastStore.migrations + KeychainStore.migrations, applicationID: 1)
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

    /// The item of a key, whose name the passcode may protect: `nil` before the first unlock then.
    func named(_ key: GenericPasswordKey) throws -> KeychainItem? {
        do { return try find(key) } catch let error as CofferError where error.code == .interactionNotAllowed {
            #expect(state == .beforeFirstUnlock)
            return nil
        }
    }

    /// What a look at every row gives: the accounts of those that are well, and how many are damaged.
    func survey() throws -> (accounts: [String], damaged: Int) {
        var accounts: [String] = []
        var damaged = 0
        try forEachItem { outcome in
            switch outcome {
            case .success(let item): accounts.append(item.key.account)
            case .failure(let error) where error.code == .interactionNotAllowed: #expect(state == .beforeFirstUnlock)
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
