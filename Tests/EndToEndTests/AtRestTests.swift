import CofferClient
import CofferCore
import CofferDatabase
import CofferMemory
import CofferTestSupport
import CofferWire
import CSodium
import Foundation
import Testing

/// No attribute, name or secret of the keychain is in clear in any file of the state directory, nor a bare hash of one.
@Suite struct AtRestTests {
    /// The strings that were given to the vault.
    private final class Words {
        private(set) var all: [[UInt8]] = []

        /// Makes a string that nothing else is.
        func make(_ purpose: String) -> String {
            let text = "needle-\(all.count)-\(purpose)-\(UInt64(all.count) &* 0x9E37_79B9_7F4A_7C15)"
            all.append(Array(text.utf8))
            return text
        }

        /// Adds a string that was made elsewhere.
        func add(_ text: String) { all.append(Array(text.utf8)) }

        func makeBytes(_ purpose: String) -> [UInt8] { Array(make(purpose).utf8) }
    }

    /// Fills a vault with items of all four classes, each of their attributes a string of its own.
    private func fill(_ client: BlockingClient, _ words: Words) throws {
        for accessible in Accessibility.allCases {
            for itemClass in [ItemClass.genericPassword, .internetPassword, .key] {
                var attributes: [KeychainAttribute: AttributeValue] = [:]
                for attribute in KeychainAttribute.attributes(of: itemClass) {
                    switch attribute {
                    case .accessGroup, .accessible, .keyClass, .keyType: continue
                    default: break
                    }
                    switch attribute.form {
                    case .text: attributes[attribute] = .text(words.make(attribute.rawValue))
                    case .bytes: attributes[attribute] = .bytes(words.makeBytes(attribute.rawValue))
                    case .bool, .integer, .date: continue
                    }
                }
                if itemClass == .key { attributes[.keyClass] = .text("symmetric") }
                let user = [AttributeName(words.make("user name")): words.make("user value")]
                let reference = try client.add(
                    itemClass,
                    attributes,
                    words.makeBytes("secret"),
                    user: user,
                    accessible: accessible
                )
                // The search is by what the tags are made of.
                let query = KeychainQuery(reference: reference)
                #expect(try client.find(KeychainQuery(itemClass, attributes, user: user)).page.items.count == 1)
                if itemClass != .key { try client.update(query, KeychainChange(), words.makeBytes("later secret")) }
                let change = KeychainChange(
                    attributes: [.label: .text(words.make("later label"))],
                    user: [AttributeName(words.make("later user name")): words.make("later user value")]
                )
                try client.update(query, change)
            }
        }
        let pem = try String(
            contentsOfFile: "\(Project.root)/Tests/Vectors/keys/ed25519-certificate.pem",
            encoding: .utf8
        )
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        let der = Array(try #require(Data(base64Encoded: base64)))
        try client.add(.certificate, [.label: .text(words.make("label"))], der)
        for _ in 0..<10 {
            let name = "\(words.make("service"))/\(words.make("account"))"
            try client.put(name, words.makeBytes("secret in the one namespace"))
            let file = "\(words.make("directory"))/\(words.make("file"))"
            try client.put(file, words.makeBytes("content")) { $0.kind = .database }
        }
        let leased = try ItemName("\(words.make("leased service"))/\(words.make("leased account"))")
        try client.put(leased.path, words.makeBytes("leased secret"))
        for _ in 0..<2 {
            try client.grant(
                leased,
                to: .unit("\(words.make("unit")).service"),
                seconds: 600,
                uses: 3,
                reason: words.make("reason")
            )
        }
        try client.removeRule(1)
        // What is gone is gone from the disk, too.
        let gone = try client.add(
            .genericPassword,
            [.account: .text(words.make("deleted account"))],
            words.makeBytes("deleted secret")
        )
        #expect(try client.deleteKeychainItems(KeychainQuery(reference: gone)) == 1)
    }

    @Test func `no file shows a string, or a bare hash of one, while the daemon runs and after it`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        let words = Words()
        try fill(client, words)
        words.add(DaemonProcess.passcode)
        #expect(words.all.count > 200)
        var known = KnownStrings()
        for word in words.all { known.add(word) }
        known.add(exactly: try #require(Data(base64Encoded: "Q29mZmVyIGlkZW50aXR5").map { Array($0) }))
        // What is there is found: the search can fail.
        let vault = try #require(try client.status().vaultID)
        let canary = KnownStrings([vault.bytes])
        #expect(try !canary.found(below: daemon.statePath).isEmpty)
        for word in words.all.prefix(3) { #expect(known.found(in: Array("x".utf8) + word + [0]) != []) }

        func check(_ moment: String) throws {
            let files = try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath)
            #expect(files.contains("vault.sqlite") && files.contains("keybag"))
            let found = try known.found(below: daemon.statePath)
            #expect(found == [], "\(moment)")
        }
        try check("unlocked")
        _ = try client.lock(graceSeconds: 0)
        let wrong = words.make("wrong passcode")
        let outcome = try Outcome { try client.unlock(wrong) }
        #expect(outcome == .refused(.authFailed))
        known.add(Array(wrong.utf8))
        #expect(FileManager.default.fileExists(atPath: "\(daemon.statePath)/attempts"))
        try check("locked")
        daemon.kill()
        try check("killed")
        let again = try DaemonProcess(in: daemon.directory)
        try check("started again")
        #expect(again.stop() == 0)
        try check("stopped")
    }

    @Test func `the length of what is stored says little of a secret`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        let counts = Array(0..<200) + [1000, 1001, 1023]
        for count in counts {
            try client.add(.genericPassword, [.account: .text("\(count)")], [UInt8](repeating: 1, count: count))
        }
        daemon.stop()
        var lengths: [Int64] = []
        let connection = try Connection(path: "\(daemon.statePath)/vault.sqlite")
        try connection.rows("SELECT length(secret) FROM keychain_items ORDER BY id") { row in
            lengths.append(try row.integer(0))
            return true
        }
        #expect(lengths.count == counts.count)
        #expect(Set(lengths).count < 12, "\(Set(lengths).sorted())")
        #expect(Set(lengths.prefix(16)).count == 1)
    }

    @Test func `the hashes that are looked for are those of their names`() {
        let abc = Array("abc".utf8)
        #expect(hexadecimal(Hashes.md5(abc)) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(hexadecimal(Hashes.sha1(abc)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        let all = Hashes.all(of: abc).map { hexadecimal($0) }
        #expect(all.contains { $0.hasPrefix("ba7816bf8f01cfea414140de5dae2223") }, "SHA-256")
        #expect(all.contains { $0.hasPrefix("ddaf35a193617abacc417349ae204131") }, "SHA-512")
        #expect(all.contains { $0.hasPrefix("bddd813c634239723171ef3fee98579b") }, "BLAKE2b-256")
        #expect(all.contains { $0.hasPrefix("ba80a53f981c4d0d6a2797b69f12f6e9") }, "BLAKE2b-512")
        let long = [UInt8](repeating: 0x61, count: 119)
        #expect(hexadecimal(Hashes.md5(long)) == "8a7bd0732ed6a28ce75f6dabc90e1613")
        #expect(hexadecimal(Hashes.sha1(long)) == "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56")
    }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Byte strings that are searched together.
private struct KnownStrings {
    /// By their first four bytes.
    private var byFront: [UInt32: [[UInt8]]] = [:]

    init(_ all: [[UInt8]] = []) { for bytes in all { add(exactly: bytes) } }

    /// Adds a string, its hashes, and the ways in which they are written.
    mutating func add(_ word: [UInt8]) {
        add(exactly: word)
        add(exactly: word.flatMap { [$0, 0] })
        for bytes in [word] + Hashes.all(of: word) {
            // Of a hash a part is enough: the first sixteen bytes.
            let part = bytes == word ? word : Array(bytes.prefix(16))
            add(exactly: part)
            add(exactly: Array(hexadecimal(part).utf8))
            add(exactly: Array(hexadecimal(part).uppercased().utf8))
            for shift in 0..<3 {
                let text = Data(part.dropFirst(shift)).base64EncodedData()
                // The last characters depend on what follows.
                add(exactly: Array(text.prefix((part.count - shift) / 3 * 4)))
            }
        }
    }

    mutating func add(exactly bytes: [UInt8]) { byFront[Self.front(of: bytes[...]), default: []].append(bytes) }

    private static func front(of bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A printable form of some bytes.
    func found(in bytes: [UInt8]) -> [String] {
        var found: [String] = []
        var front: UInt32 = 0
        for (place, byte) in bytes.enumerated() {
            front = front << 8 | UInt32(byte)
            guard place >= 3, let candidates = byFront[front] else { continue }
            for needle in candidates where bytes[(place - 3)...].starts(with: needle) {
                found.append(String(decoding: needle, as: UTF8.self))
            }
        }
        return found
    }

    /// What is in the files below a folder, and in their names.
    func found(below path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).flatMap { name in
            let bytes = FileManager.default.contents(atPath: "\(path)/\(name)").map { Array($0) } ?? []
            return (found(in: bytes) + found(in: Array(name.utf8))).map { "\(name): \($0)" }
        }
    }
}

/// Hashes without a key, as code may have made them for look-ups.
private enum Hashes {
    static func all(of bytes: [UInt8]) -> [[UInt8]] {
        [
            blake2b(bytes, 16), blake2b(bytes, 32), blake2b(bytes, 64), sha256(bytes), sha512(bytes), sha1(bytes),
            md5(bytes),
        ]
    }

    private static func blake2b(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: count)
        crypto_generichash(&hash, count, bytes, UInt64(bytes.count), nil, 0)
        return hash
    }

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    private static func sha512(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 64)
        crypto_hash_sha512(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    /// The blocks of 64 bytes that MD5 and SHA-1 go through.
    private static func blocks(_ bytes: [UInt8], isBigEndian: Bool) -> [[UInt32]] {
        var padded = bytes + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(bytes.count) * 8
        let length = (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        padded += isBigEndian ? length.reversed() : length
        return stride(from: 0, to: padded.count, by: 64).map { start in
            (0..<16).map { word in
                let place = start + word * 4
                let bytes = padded[place..<(place + 4)]
                let ordered = isBigEndian ? Array(bytes) : bytes.reversed()
                return ordered.reduce(UInt32(0)) { value, byte in value << 8 | UInt32(byte) }
            }
        }
    }

    private static func rotate(_ value: UInt32, _ count: Int) -> UInt32 {
        value << UInt32(count) | value >> UInt32(32 - count)
    }

    /// RFC 1321.
    static func md5(_ bytes: [UInt8]) -> [UInt8] {
        let turns = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
        let sines = (0..<64).map { UInt32(abs(sin(Double($0 + 1))) * 4_294_967_296) }
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        for block in blocks(bytes, isBigEndian: false) {
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for step in 0..<64 {
                let mixed: UInt32
                let word: Int
                switch step / 16 {
                case 0: (mixed, word) = (b & c | ~b & d, step)
                case 1: (mixed, word) = (d & b | ~d & c, (5 * step + 1) % 16)
                case 2: (mixed, word) = (b ^ c ^ d, (3 * step + 5) % 16)
                default: (mixed, word) = (c ^ (b | ~d), 7 * step % 16)
                }
                let sum = a &+ mixed &+ sines[step] &+ block[word]
                (a, d, c, b) = (d, c, b, b &+ rotate(sum, turns[step / 16][step % 4]))
            }
            state = [state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d]
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } }
    }

    /// RFC 3174.
    static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for block in blocks(bytes, isBigEndian: true) {
            var words = block
            for step in 16..<80 {
                words.append(rotate(words[step - 3] ^ words[step - 8] ^ words[step - 14] ^ words[step - 16], 1))
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for step in 0..<80 {
                let (mixed, constant): (UInt32, UInt32) =
                    switch step / 20 {
                    case 0: (b & c | ~b & d, 0x5A82_7999)
                    case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                    case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
                    default: (b ^ c ^ d, 0xCA62_C1D6)
                    }
                let sum = rotate(a, 5) &+ mixed &+ e &+ words[step] &+ constant
                (e, d, c, b, a) = (d, c, rotate(b, 30), a, sum)
            }
            state = zip(state, [a, b, c, d, e]).map { $0 &+ $1 }
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }
}
