internal import CofferClient
internal import CofferCore
internal import CofferCrypto
internal import CofferMemory
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// What all connections of the agent share.
final class Agent {
    private let connection: ConnectionOptions
    /// The hash of the passphrase of `ssh-add -x`, while the agent is locked.
    private var lockHash: (salt: [UInt8], hash: SecretBytesBox)?
    private var failedUnlocks = 0
    /// When the last unlocking that has to wait is tried.
    private var lastTry: ContinuousClock.Instant?
    /// When the next key of `ssh-add -t` ends, in milliseconds since 1970.
    private var nextExpiry: Int64? = 0

    /// Keeps a value that is not copyable.
    final class SecretBytesBox {
        let bytes: SecretBytes
        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    init(_ connection: ConnectionOptions) { self.connection = connection }

    /// The keys, over a new connection to the daemon, which may have ended since the last request.
    func keys() throws(CofferError) -> AgentKeys { AgentKeys(try connection.connect()) }

    /// Writes the reason of a refusal for the journal.
    func report(_ error: CofferError) { Output.report(error) }

    func report(_ note: Line) { Output.standardError.line(note) }

    // MARK: Locking

    var isLocked: Bool { lockHash != nil }

    /// Locks the agent until the passphrase is given again; the vault does not know it.
    func lock(_ passphrase: RawSpan) throws(CofferError) {
        guard lockHash == nil else { throw CofferError(.param, "the agent is locked already") }
        do {
            let salt = try SecretBytes(random: 16).exposeBytes()
            lockHash = (salt, SecretBytesBox(try Self.hash(passphrase, salt)))
        } catch { throw .noSecretMemory }
    }

    /// Until when an unlocking has to wait: after wrong passphrases for longer and longer, as in OpenSSH's agent, and one
    /// after the other, over whatever connections they come; `nil` if it has not.
    func delayOfUnlock() -> ContinuousClock.Instant? {
        guard failedUnlocks > 0 else { return nil }
        let end = max(.now, lastTry ?? .now) + .milliseconds(100 * min(failedUnlocks, 100))
        lastTry = end
        return end
    }

    func unlock(_ passphrase: RawSpan) throws(CofferError) {
        guard let lockHash else { throw CofferError(.param, "the agent is not locked") }
        let hash: SecretBytes
        do { hash = try Self.hash(passphrase, lockHash.salt) } catch { throw .noSecretMemory }
        guard hash.isEqual(to: lockHash.hash.bytes) else {
            failedUnlocks += 1
            throw CofferError(.authFailed, "the passphrase does not unlock the agent")
        }
        (self.lockHash, failedUnlocks) = (nil, 0)
    }

    private static func hash(_ passphrase: RawSpan, _ salt: [UInt8]) throws -> SecretBytes {
        try BcryptKey.derive(32, from: SecretBytes(copying: passphrase), salt: salt, rounds: 1)
    }

    // MARK: Lifetimes

    /// Has the next wait end at once.
    func expiryMayHaveChanged() { nextExpiry = 0 }

    /// When ``purge()`` is due; `nil` if no key has a lifetime.
    var deadline: ContinuousClock.Instant? {
        nextExpiry.map { .now + .milliseconds(max(0, $0.nearestDifference(wallClockMilliseconds()))) }
    }

    /// Removes the keys whose lifetime has passed, if one may have.
    func purgeIfDue() {
        guard let expiry = nextExpiry, expiry <= wallClockMilliseconds() else { return }
        do throws(CofferError) {
            nextExpiry = try keys().purge()
        } catch {
            // They are not used, and are removed when the vault can be reached, which needs no line each minute.
            nextExpiry = wallClockMilliseconds().nearestSum(60_000)
        }
    }
}
