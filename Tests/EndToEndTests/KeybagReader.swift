import CofferCore
import CofferCrypto
import CofferDatabase
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

/// The keys of a vault, had from its files and its passcode by the pages FORMATS.md and KEYS.md alone.
///
/// It shares the primitives with the daemon, and none of the code that says which key is where.
struct KeybagReader {
    /// By the names of the pages.
    private(set) var keys: [String: [UInt8]] = [:]
    private let deviceKey: [UInt8]
    private var vaultID: [UInt8] = []
    private var passes: UInt32 = 0
    private var memoryKiB: UInt32 = 0
    private var salt: [UInt8] = []

    static let codes: [UInt8: String] = [
        1: "a", 2: "bPrivate", 3: "c", 4: "cx", 5: "d", 16: "ak", 17: "ck", 18: "dk", 19: "aku", 20: "cku", 21: "dku",
        22: "akpu", 23: "bkPrivate", 32: "store",
    ]

    /// Opens the keybag of a state directory.
    init(_ statePath: String, passcode: String) throws {
        deviceKey = try Self.contents(statePath + "/device.key")
        try #require(deviceKey.count == 32)
        keys["device key"] = deviceKey
        var rest = try Self.contents(statePath + "/keybag")[...]
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func number(_ count: Int) -> Int { take(count).reduce(0) { $0 << 8 | Int($1) } }

        #expect(take(8) == Array("COFRKEYS".utf8))
        let version = number(2)
        #expect(version == 1)
        vaultID = take(16)
        // The device key's check, the public keys of class B, deposits and metadata, the count of moves and the flags.
        _ = take(16 + 3 * 32 + 4 + 1)
        var keybagKey: [UInt8] = []
        for _ in 0..<number(1) {
            let identity = take(2)
            var body = take(number(2))[...]
            guard identity[1] == 2 else { continue }
            let fields = Array(body.prefix(24))
            passes = fields[..<4].reduce(0) { $0 << 8 | UInt32($1) }
            memoryKiB = fields[4..<8].reduce(0) { $0 << 8 | UInt32($1) }
            salt = Array(fields[8...])
            body = body.dropFirst(24)
            let (stretched, kek) = try derived(passcode)
            keys["stretched passcode"] = stretched
            keys["KEK"] = kek
            let context = Array("coffer keyslot v1".utf8) + vaultID + identity + fields
            keybagKey = try Self.unwrap(Array(body), under: kek, context)
            keys["keybag key"] = keybagKey
        }
        let deviceWrapping = try Self.subkey(of: deviceKey, for: "coffer device wrap v1")
        keys["device wrap key"] = deviceWrapping
        let jointWrapping = try Self.subkey(
            of: deviceKey,
            for: "coffer this device only wrap v1",
            mixing: keybagKey
        )
        keys["this device only wrap key"] = jointWrapping
        for _ in 0..<number(1) {
            let code = number(1)
            let name = try #require(Self.codes[UInt8(code)])
            let wrapping = [deviceWrapping, keybagKey, jointWrapping][number(1) - 1]
            let key = try Self.unwrap(
                take(72),
                under: wrapping,
                Array("coffer class key v1".utf8) + vaultID + [UInt8(code)]
            )
            #expect(keys[name] == nil || keys[name] == key)
            keys[name] = key
        }
        #expect(Set(Self.codes.values).isSubset(of: keys.keys))
        // The closing tags, under the keybag key and under the device key.
        #expect(rest.count == 64)
        for purpose: StaticString in [
            "coffer keychain metadata v1", "coffer file metadata v1", "coffer search v1", "coffer access rules v1",
            "coffer audit v1",
        ] {
            keys["\(purpose)"] = try Self.subkey(of: try key("store"), for: purpose)
        }
    }

    /// What a passcode, right or wrong, is turned into on the way to the keybag key.
    func derived(_ passcode: String) throws -> (stretched: [UInt8], kek: [UInt8]) {
        let stretched = try KeyDerivation.passcodeKey(
            try SecretBytes(passcode.utf8),
            salt: salt,
            operations: passes,
            memoryKiB: memoryKiB
        ).bytes.exposeBytes()
        let kek = try Self.subkey(of: deviceKey, for: "coffer KEK passcode v1", mixing: stretched)
        return (stretched, kek)
    }

    /// The key of a name.
    func key(_ name: String) throws -> [UInt8] { try #require(keys[name]) }

    /// The keys of everything that is stored.
    func itemKeys(_ statePath: String) throws -> [String: [UInt8]] {
        // The daemon locks its catalog: a copy is read instead.
        let copy = try TemporaryDirectory()
        for name in ["vault.sqlite", "vault.sqlite-wal"] {
            try copy.write(try Self.contents("\(statePath)/\(name)"), to: name)
        }
        let catalog = try Connection(path: copy.appending("vault.sqlite"))
        var found: [String: [UInt8]] = [:]
        func add(_ store: String, _ row: borrowing Row) throws {
            let code = UInt8(try row.integer(0))
            let id = try row.blob(1)
            let wrapped = try row.blob(2)
            let name = try #require(Self.codes[code])
            let context = Array("coffer item key v1".utf8) + [code] + id
            let purposes: [String: StaticString] = [
                "bPrivate": "coffer class B wrap v1", "bkPrivate": "coffer deposit wrap v1",
            ]
            found["\(store) key \(found.count) under \(name)"] =
                if let purpose = purposes[name] {
                    try KeyAgreement.unwrap(
                        wrapped.span.bytes,
                        with: Self.symmetric(try key(name)),
                        for: purpose,
                        context: context
                    ).bytes.exposeBytes()
                } else {
                    try Self.unwrap(wrapped, under: try key(name), context)
                }
        }
        try catalog.rows("SELECT class_key, uuid, wrapped_key FROM keychain_items") {
            try add("item", $0)
            return true
        }
        try catalog.rows("SELECT class_key, content, wrapped_key FROM file_nodes WHERE kind = 2") {
            try add("file", $0)
            return true
        }
        return found
    }

    /// What a recovery key is on the way from paper to the keybag key, in each form.
    static func secrets(ofRecoveryKey text: [UInt8]) throws -> [String: [UInt8]] {
        let letters = text.filter { $0 != UInt8(ascii: "-") }
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        let symbols = letters.compactMap { letter in alphabet.firstIndex(of: letter).map { UInt8($0) } }
        try #require(symbols.count == 36)
        let root = stride(from: 0, to: 32, by: 8).flatMap { start in
            let bits = symbols[start..<(start + 8)].reduce(UInt64(0)) { $0 << 5 | UInt64($1) }
            return (0..<5).map { UInt8(truncatingIfNeeded: bits >> (32 - 8 * $0)) }
        }
        return [
            "recovery key as text": text, "recovery key without hyphens": letters, "recovery key as symbols": symbols,
            "recovery key": root,
            "private half of the recovery key": try subkey(
                of: root + [UInt8](repeating: 0, count: 12),
                for: "coffer recovery key v1"
            ),
        ]
    }

    private static func contents(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private static func symmetric(_ bytes: [UInt8]) throws -> SymmetricKey {
        guard let key = SymmetricKey(try SecretBytes(bytes)) else { throw POSIXError(.EINVAL) }
        return key
    }

    private static func unwrap(_ wrapped: [UInt8], under key: [UInt8], _ context: [UInt8]) throws -> [UInt8] {
        try KeyWrap.unwrap(wrapped.span.bytes, under: symmetric(key), context: context).bytes.exposeBytes()
    }

    private static func subkey(
        of key: [UInt8],
        for purpose: StaticString,
        mixing input: [UInt8]? = nil
    ) throws -> [UInt8] {
        let mixed: SymmetricKey? = if let input { try symmetric(input) } else { nil }
        return try KeyDerivation.subkey(of: symmetric(key), for: purpose, mixing: mixed).bytes.exposeBytes()
    }
}
