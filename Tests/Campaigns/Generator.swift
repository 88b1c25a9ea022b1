/// Reproducible pseudorandom numbers: splitmix64.
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    /// Makes a generator from a seed; each combination of parts gives other numbers.
    init(seed: UInt64, _ parts: UInt64...) {
        state = seed
        for part in parts { state = next() ^ (part &* 0xd129_0d3f_7a5b_c3e9) }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, a bound.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// True with a given probability.
    mutating func chance(_ part: Double) -> Bool { Double(below(1 << 30)) < part * Double(1 << 30) }

    /// A random element.
    mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

    /// Bytes that differ from those of every other call.
    mutating func content(_ count: Int) -> [UInt8] {
        // Taken from the pool at an offset: generating each byte would take longer than the attack.
        let start = below(Self.pool.count - count)
        return Array(Self.pool[start..<(start + count)])
    }

    /// A realistic size: often small, and often near the boundary of a chunk.
    mutating func size(upTo most: Int) -> Int {
        let edges = [0, 1, 2, 100, 4096, 65_535, 65_536, 65_537, 131_072].filter { $0 <= most }
        return chance(0.4) ? pick(edges) : below(chance(0.5) ? most + 1 : min(most, 4000) + 1)
    }

    private static let pool: [UInt8] = {
        var generator = Generator(seed: 0x636f_6666_6572)
        var bytes = [UInt8](repeating: 0, count: 4 << 20)
        bytes.withUnsafeMutableBytes { raw in
            for place in 0..<(raw.count / 8) {
                raw.storeBytes(of: generator.next(), toByteOffset: place * 8, as: UInt64.self)
            }
        }
        return bytes
    }()
}
