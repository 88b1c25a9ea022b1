import CofferCore
import CofferCrypto
import CofferKeys
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

private let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
private let dash = UInt8(ascii: "-")

/// The text of 20 bytes by the words of the format: base32 of the bytes and of the first 20 bits of a tag.
private func text(of bytes: [UInt8]) throws -> [UInt8] {
    let filled = bytes + [UInt8](repeating: 0, count: 12)
    guard let key = SymmetricKey(try SecretBytes(copying: filled.span.bytes)) else { throw POSIXError(.EINVAL) }
    let tag = KeyedHash.tag(under: key, for: "coffer recovery key checksum v1", byteCount: 16)
    var bits: [Int] = []
    for byte in bytes + tag {
        for place in 0..<8 { bits.append(Int(byte >> (7 - place)) & 1) }
    }
    var text: [UInt8] = []
    for index in 0..<36 {
        if index > 0 && index % 4 == 0 { text.append(dash) }
        let value = bits[(5 * index)..<(5 * index + 5)].reduce(0) { $0 * 2 + $1 }
        text.append(alphabet[value])
    }
    return text
}

/// What a typed text is taken for: the text that would be printed, or an error.
private func reading(_ typed: [UInt8]) throws -> Result<[UInt8], CofferError> {
    let typed = try SecretBytes(copying: typed.span.bytes)
    do throws(CofferError) {
        let key = try RecoveryKey(typed)
        do { return .success(try key.text().exposeBytes()) } catch { throw CofferError(.internal, "no memory") }
    } catch {
        return .failure(error)
    }
}

private func code(_ typed: [UInt8]) throws -> ErrorCode? {
    switch try reading(typed) {
    case .success: nil
    case .failure(let error): error.code
    }
}

@Suite struct `A recovery key's text` {
    /// Its text has symbols of every kind; a digit 0 and 1 among them.
    private let fixed: [UInt8]

    init() throws { fixed = try text(of: (0..<20).map { UInt8($0 * 7) }) }

    @Test func `is nine groups of four, and says the same key when it is read`() throws {
        for seed in 0..<50 {
            var random = SeededGenerator(seed: UInt64(seed))
            let expected = try text(of: (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) })
            #expect(expected.count == RecoveryKey.textBytes)
            #expect(try reading(expected) == .success(expected))
        }
        for edge in [UInt8(0), 0xFF] {
            let expected = try text(of: Array(repeating: edge, count: 20))
            #expect(try reading(expected) == .success(expected))
        }
        let made = try NewRecoveryKey().takeBytes()
        #expect(made.count == 44)
        #expect(try reading(made) == .success(made))
        #expect(made.split(separator: dash).map(\.count) == Array(repeating: 4, count: 9))
        let other = try NewRecoveryKey().takeBytes()
        #expect(made != other)
    }

    @Test func `is read without regard to case, dashes and white space`() throws {
        let symbols = fixed.filter { $0 != dash }
        let lower = fixed.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 0x20 : $0 }
        let spaced = symbols.flatMap { [$0] + Array(" \t\n\r\u{0B}\u{0C}-".utf8) }
        for typed in [lower, symbols, spaced, [dash, dash] + symbols + [dash, 0x20]] {
            #expect(try reading(typed) == .success(fixed))
        }
    }

    @Test(arguments: ["0O", "0o", "1I", "1i", "1L", "1l"])
    func `is read with the letters that look like its digits`(pair: String) throws {
        let (digit, letter) = (pair.utf8.first, pair.utf8.last)
        let key = try text(of: [0x00, 0x44, 0x32, 0x14, 0xC7] + Array(repeating: 0x21, count: 15))
        #expect(key.contains { $0 == digit }, "or it would show nothing")
        let typed = key.compactMap { $0 == digit ? letter : $0 }
        #expect(try reading(typed) == .success(key))
    }

    /// Each of the 1116 goes unseen with the probability of one in 2²⁰; of this key, none does.
    @Test func `shows a typo of any one symbol`() throws {
        var count = 0
        for place in fixed.indices where fixed[place] != dash {
            for symbol in alphabet where symbol != fixed[place] {
                var typed = fixed
                typed[place] = symbol
                #expect(try code(typed) == .param)
                count += 1
            }
        }
        #expect(count == 36 * 31)
    }

    /// Each of at most 35 goes unseen with the probability of one in 2²⁰; of these keys, none does.
    @Test func `shows a swap of neighbours`() throws {
        for seed in 0..<20 {
            var random = SeededGenerator(seed: UInt64(seed))
            let key = try text(of: (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) })
            let symbols = key.filter { $0 != dash }
            for place in 0..<35 where symbols[place] != symbols[place + 1] {
                var typed = symbols
                typed.swapAt(place, place + 1)
                #expect(try code(typed) == .param, "\(seed), \(place)")
            }
        }
    }

    @Test func `is refused at every other length`() throws {
        let symbols = fixed.filter { $0 != dash }
        for count in 0..<36 { #expect(try code(Array(symbols.prefix(count))) == .param) }
        for more in [1, 4, 36, 4096] {
            #expect(try code(symbols + Array(symbols.joinedToItself(more).prefix(more))) == .param)
        }
        #expect(try code(Array(repeating: dash, count: 44)) == .param)
    }

    @Test func `is refused with any byte that is none of its symbols`() throws {
        let read = Set(alphabet + Array("abcdefghjkmnpqrstvwxyzOoIiLl".utf8) + [dash, 0x20, 9, 10, 11, 12, 13])
        for byte in UInt8.min...UInt8.max where !read.contains(byte) {
            for place in [0, 20, fixed.count] {
                var typed = fixed
                typed.insert(byte, at: place)
                #expect(try code(typed) == .param, "byte \(byte)")
            }
        }
        #expect(!read.contains(0) && !read.contains(UInt8(ascii: "U")))
    }

    @Test func `is never in the words of an error`() throws {
        var typed = fixed
        typed.swapAt(0, 3)
        for bad in [typed, Array(fixed.dropLast()), fixed + [0x55], Array("my dog's name".utf8)] {
            guard case .failure(let error) = try reading(bad) else {
                Issue.record("a mistyped key was read")
                continue
            }
            let words = error.message + (error.hint ?? "")
            for group in bad.split(separator: dash) {
                #expect(!words.contains(String(decoding: group, as: UTF8.self)))
            }
        }
    }

    @Test func `of another key is well formed, and opens nothing`() throws {
        let vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
        #expect(try code(fixed) == nil)
        let error = try vault.open().refusal(of: .recoveryKey(fixed))
        #expect(error?.code == .authFailed)
        let none = try Vault(hasPasscode: false).open().refusal(of: .recoveryKey(fixed))
        #expect(none?.code == .authFailed)
    }
}

extension [UInt8] {
    /// Itself, as often as is needed for so many bytes.
    fileprivate func joinedToItself(_ count: Int) -> [UInt8] { (0...(count / self.count)).flatMap { _ in self } }
}
