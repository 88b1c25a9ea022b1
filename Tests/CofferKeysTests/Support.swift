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

extension VaultKeys {

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
