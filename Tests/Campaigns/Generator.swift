/// Numbers by chance that a seed makes again: splitmix64.
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    /// Begins at a seed; other parts give other numbers.
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

    /// A number from 0 on, below a bound.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Whether something happens that has a chance.
    mutating func chance(_ part: Double) -> Bool { Double(below(1 << 30)) < part * Double(1 << 30) }

    /// One of some values.
    mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

    /// Bytes that no other call gives.
    mutating func content(_ count: Int) -> [UInt8] {
        // Made from the pool by an offset: a loop over each byte would take longer than what is attacked.
        let start = below(Self.pool.count - count)
        return Array(Self.pool[start..<(start + count)])
    }

    /// A number of bytes as secrets and files have it: often few, and often about the edge of a chunk.
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
