import CofferMemory
import Synchronization
import Testing

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

extension SecretBytes {
    init(_ bytes: [UInt8], in arena: SecretArena = .shared) throws(SecretMemoryError) {
        try self.init(copying: bytes.span.bytes, in: arena)
    }

    /// Where the bytes lie.
    var address: UInt {
        mutating get { withUnsafeMutableBytes { UInt(bitPattern: $0.baseAddress) } }
    }

    mutating func fill(with byte: UInt8) {
        withUnsafeMutableBytes { buffer in
            for index in buffer.indices { buffer[index] = byte }
        }
    }
}

/// The bytes at a mapped address.
func memory(at address: UInt, count: Int) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
}

/// Keeps a copy of each piece that an arena takes back.
final class ReleaseLog: Sendable {
    private let log = Mutex<[[UInt8]]>([])

    var pieces: [[UInt8]] { log.withLock { $0 } }

    func makeArena() -> SecretArena {
        SecretArena(onRelease: { piece in
            let bytes = piece.withUnsafeBytes { Array($0) }
            self.log.withLock { $0.append(bytes) }
        })
    }
}
