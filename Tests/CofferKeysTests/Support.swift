import CofferCore
import CofferCrypto
import CofferKeys
import CofferMemory
import CofferSystem
import CofferTestSupport
import Foundation
import Synchronization
import Testing

extension Vault {
    /// How opening ends, where it does not give keys.
    func refusal() -> ErrorCode? {
        do throws(CofferError) {
            _ = try VaultKeys.find(in: directory)
            return nil
        } catch {
            return error.code
        }
    }
}

extension Vault {
    /// Opens the keys where a change of the disk fails that comes after it.
    func open(sabotagedBy saboteur: Saboteur) throws -> VaultKeys {
        // It gives the count of attempts its file, which is written in place from then on.
        _ = try open()
        let directory = try Directory(makingPath: temporary.path, fileSystem: saboteur.fileSystem)
        guard let keys = try VaultKeys.find(in: directory) else { throw POSIXError(.ENOENT) }
        saboteur.restart()
        return keys
    }
}

extension VaultKeys {
    /// Why a credential is refused, or a change with it; `nil` where it is not.
    func refusal(
        of credential: consuming GivenCredential,
        _ change: consuming KeybagChange? = nil,
        at now: UInt64 = 0
    ) -> CofferError? {
        do throws(CofferError) {
            _ = try show(credential, change, at: now)
            return nil
        } catch {
            return error
        }
    }

    func attempt(_ passcode: String?) throws -> ErrorCode? {
        let typed: GivenCredential = if let passcode { .passcode(try SecretBytes(passcode)) } else { .nothing }
        do throws(CofferError) {
            _ = try show(typed)
            return nil
        } catch {
            return error.code
        }
    }
}

extension GivenCredential {
    static func passcode(_ text: String) throws -> GivenCredential { .passcode(try SecretBytes(text)) }

    static func recoveryKey(_ text: [UInt8]) throws -> GivenCredential { .recoveryKey(try RecoveryKey(text: text)) }
}

extension RecoveryKey {
    init(text: [UInt8]) throws { try self.init(try SecretBytes(copying: text.span.bytes)) }
}

extension NewRecoveryKey {
    consuming func takeBytes() -> [UInt8] { takeText().exposeBytes() }
}

extension KeybagChange {
    static func passcode(_ text: String) throws -> KeybagChange {
        .passcode(try NewPasscode(cheap: text), erasesData: nil)
    }

    static func passcode(_ text: String, cost: PasscodeCost?) throws -> KeybagChange {
        .passcode(NewPasscode(try SecretBytes(text), cost: cost), erasesData: nil)
    }
}

/// Keys of items of every kind, made in a vault that was open.
struct Belongings {
    private let items: [(subject: Subject, id: ItemID, key: TestKey)]

    init(_ keys: VaultKeys) throws {
        items = try Subject.all.map { subject in
            let id = ItemID()
            return (subject, id, try subject.newKey(from: keys, for: id))
        }
    }

    /// What can't be opened with other keys, or opens as something else.
    func lost(with keys: VaultKeys) -> [Subject] {
        items.filter { item in
            (try? item.subject.unwrap(item.key.wrapped, from: keys, for: item.id)) != item.key.key
        }
        .map(\.subject)
    }
}

extension TemporaryDirectory {
    /// The names of what is inside, sorted.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    /// Gives a file a second name outside, by which to see what becomes of its content.
    func watch(_ name: String, from other: TemporaryDirectory) throws {
        try FileManager.default.linkItem(atPath: self.path(name), toPath: other.path(name))
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
    static let thisDeviceOnly = Accessibility.allCases.filter(\.isThisDeviceOnly).map(Subject.item)

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

/// Makes the Nth operation that changes the disk fail, or all from there on, as after a kill.
final class Saboteur: Sendable {
    private let count = Mutex(0)
    private let target: Int
    private let isLasting: Bool

    init(failing target: Int, forGood isLasting: Bool = false) {
        self.target = target
        self.isLasting = isLasting
    }

    var hasStruck: Bool { count.withLock { $0 >= target } }

    /// Fails nothing any more.
    func disarm() { count.withLock { $0 = .min } }

    /// Counts from here.
    func restart() { count.withLock { $0 = 0 } }

    var fileSystem: FileSystem {
        FileSystem(intercept: { (_) throws(SystemError) in
            let number = self.count.withLock { count in
                count += 1
                return count
            }
            if number == self.target || self.isLasting && number > self.target {
                throw SystemError("sabotage", code: ENOSPC)
            }
        })
    }
}
