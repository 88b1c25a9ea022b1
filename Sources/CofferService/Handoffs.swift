internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Synchronization

// A closure for another thread can be called more than once, for all the compiler knows, so it can't give away what it holds.
// These are taken out once.

/// Carries a value to where it is used.
final class Handoff<Value: ~Copyable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: consuming sending Value?) { self.value = Mutex(value) }

    func take() -> sending Value? { value.withLock { $0.take() } }
}

/// Carries a client's stream to the thread that reads its beginning, and back.
final class StreamHandoff: Sendable {
    private let stream: Mutex<PeerStream?>

    init(_ stream: consuming sending PeerStream) { self.stream = Mutex(stream) }

    func take() -> PeerStream? { stream.withLock { $0.take() } }

    /// Reads behind some bytes until there are so many, or the stream ends.
    func readOn(from first: borrowing SecretBytes, upTo count: Int) throws(CofferError) -> SecretBytes {
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: count) } catch { throw .noSecretMemory }
        let firstCount = first.count
        first.withBytes { source in
            unsafe bytes.withUnsafeMutableBytes { target in
                unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            }
        }
        guard let stream = take() else { return bytes }
        let added: Int
        do throws(TransferError) {
            added = unsafe try bytes.withUnsafeMutableBytes { (buffer) throws(TransferError) in
                unsafe try stream.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[firstCount...]))
            }
        } catch {
            throw error.cofferError
        }
        bytes.truncate(to: firstCount + added)
        put(stream)
        return bytes
    }

    private func put(_ stream: consuming sending PeerStream) {
        var stream: PeerStream? = consume stream
        self.stream.withLock { held in held = stream.take() }
    }
}

/// Says now and then that it is time again.
final class Pace: Sendable {
    private static let nanoseconds: UInt64 = 100_000_000

    private let clock: BootClock
    private let next: Atomic<UInt64>

    init(_ clock: BootClock) {
        self.clock = clock
        next = Atomic(clock.now + Self.nanoseconds)
    }

    func isDue() -> Bool {
        let now = clock.now
        guard now >= next.load(ordering: .relaxed) else { return false }
        next.store(now + Self.nanoseconds, ordering: .relaxed)
        return true
    }
}
