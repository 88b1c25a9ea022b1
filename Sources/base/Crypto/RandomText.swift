package import CofferMemory
internal import CSodium

/// Text of random choices, each of them uniform, in locked memory.
package enum RandomText {
    /// Random characters.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - alphabet: The characters to choose from: bytes of ASCII, each of them once.
    package static func characters(_ count: Int, from alphabet: [UInt8]) throws(CryptoError) -> SecretBytes {
        Sodium.prepare()
        var text = try allocateSecret(count)
        unsafe text.withUnsafeMutableBytes { buffer in
            for place in buffer.indices { unsafe buffer[place] = alphabet[choice(below: alphabet.count)] }
        }
        return text
    }

    /// Random words.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - list: The list to choose from: words of ASCII between single spaces.
    ///   - separator: The byte between two words.
    package static func words(
        _ count: Int,
        from list: StaticString,
        separator: UInt8
    ) throws(CryptoError) -> SecretBytes {
        Sodium.prepare()
        let list = unsafe UnsafeBufferPointer(start: list.utf8Start, count: list.utf8CodeUnitCount)
        let inner = list.indices.filter { unsafe list[$0] == UInt8(ascii: " ") }
        let spaces = [-1] + inner + [list.count]
        let longest = zip(spaces, spaces.dropFirst()).reduce(0) { max($0, $1.1 - $1.0) }
        var text = try allocateSecret(count * longest)
        let used = unsafe text.withUnsafeMutableBytes { buffer in
            var used = 0
            for number in 0..<count {
                let word = choice(below: spaces.count - 1)
                if number > 0 {
                    unsafe buffer[used] = separator
                    used += 1
                }
                for place in (spaces[word] + 1)..<spaces[word + 1] {
                    unsafe buffer[used] = list[place]
                    used += 1
                }
            }
            return used
        }
        text.truncate(to: used)
        return text
    }

    /// A number below a bound, without bias.
    private static func choice(below bound: Int) -> Int { Int(randombytes_uniform(UInt32(bound))) }
}
