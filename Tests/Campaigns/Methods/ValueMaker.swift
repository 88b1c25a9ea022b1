import CofferTestSupport
import CofferWire
import Foundation

/// Makes parameters of methods by chance.
///
/// Most calls are tame: openrpc.json takes them, and what they name is there. The others take any value.
struct ValueMaker {
    private let rpc: OpenRPC
    private let schema: JSONSchema
    private(set) var random: Generator
    /// What answers have had, by the names of their members; the newest comes last.
    private var seen: [String: [JSONValue]] = [:]
    private static let seenCount = 24
    private var isTame = false
    /// The method that is called, and the connection.
    private var method = ""
    private var client = 0

    init(_ rpc: OpenRPC, _ random: Generator) {
        (self.rpc, self.random) = (rpc, random)
        schema = JSONSchema(document: rpc.document)
    }

    // MARK: Calls

    /// A call of a method by one of so many connections.
    mutating func call(by clientCount: Int) throws -> MethodCall {
        isTame = random.chance(0.7)
        var method = random.pick(rpc.methods)
        // After these, most of what follows is refused.
        if ["vault.erase", "passcode.change"].contains(method["name"]?.stringValue), random.chance(0.8) {
            method = random.pick(rpc.methods)
        }
        self.method = method["name"]?.stringValue ?? ""
        // The backup is that of the first connection.
        client = self.method.hasPrefix("backup.") ? 0 : random.below(clientCount)
        var params = try self.params(of: method)
        if isTame {
            for _ in 0..<Self.tryCount where !(try isTaken(params, by: method)) {
                params = try self.params(of: method)
            }
        } else if random.chance(0.03) {
            params.set(text(), .null)
        }
        return MethodCall(
            self.method,
            params,
            payload(of: method),
            passed: random.chance(method["x-descriptor"] == nil ? 0.02 : 0.8) ? random.pick(Passed.allCases) : nil,
            client: client
        )
    }

    private static let tryCount = 12

    private func isTaken(_ params: JSONObject, by method: JSONObject) throws -> Bool {
        try rpc.faults(of: params, of: method).isEmpty && rpc.faultsTogether(of: params, of: method).isEmpty
    }

    private mutating func params(of method: JSONObject) throws -> JSONObject {
        let name = self.method
        var params = JSONObject()
        for parameter in OpenRPC.parameters(of: method) {
            let chance = isTame ? ["name", "handle"].contains(parameter.name) ? 0.7 : 0.12 : 0.35
            guard random.chance(parameter.isRequired ? isTame ? 1 : 0.97 : chance) else { continue }
            // Nearly everything is in the first group.
            if isTame, parameter.name == "group", random.chance(0.8) { continue }
            params.set(parameter.name, try value(of: parameter.schema, for: parameter.name))
        }
        if isTame, name.hasPrefix("keychain.") {
            if let known = seen["reference"]?.last, name != "keychain.add", random.chance(0.3) {
                params = without(["class", "attributes", "user", "prefix", "contains"], params)
                params.set("reference", known)
            } else if random.chance(0.8) {
                let isOfKeys = ["keychain.sign", "keychain.agree", "keychain.publicKey"].contains(name)
                let (itemClass, attributes) = random.pick(isOfKeys ? MethodVault.keyQueries : MethodVault.queries)
                params.set("class", .string(itemClass))
                params.set("attributes", attributes)
                params = without(["user", "prefix", "contains", "reference"], params)
            }
            // Any point of the curve.
            if params["peer"] != nil { params.set("peer", "CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=") }
        }
        if name == "backup.read", random.chance(0.5) {
            params.set("part", .string(random.pick(["keybag", "anchor", "catalog"])))
        }
        return params
    }

    private func without(_ keys: [String], _ params: JSONObject) -> JSONObject {
        var rest = JSONObject()
        for (key, value) in params.members where !keys.contains(key) { rest.set(key, value) }
        return rest
    }

    /// Forgets what answers have had: the vault is another one now.
    mutating func forget() { seen = [:] }

    /// Remembers what an answer to a connection has, for later calls.
    mutating func learn(_ answer: JSONObject, by client: Int) { learn(.object(answer), as: "", by: client) }

    private mutating func learn(_ value: JSONValue, as key: String, by client: Int) {
        switch value {
        case .object(let object): for (key, value) in object.members { learn(value, as: key, by: client) }
        case .array(let values): for value in values.prefix(8) { learn(value, as: key, by: client) }
        case .integer, .string:
            let key = key == "handle" ? "\(key) \(client)" : key
            var values = seen[key] ?? []
            values.removeAll { $0 == value }
            seen[key] = values.suffix(Self.seenCount - 1) + [value]
        default: break
        }
    }

    private mutating func payload(of method: JSONObject) -> [UInt8] {
        let described = method["x-payload"]?.objectValue?["in"]?.objectValue
        let chance = described == nil ? isTame ? 0.002 : 0.02 : described?["required"] == true ? 0.95 : 0.5
        guard random.chance(chance) else { return [] }
        let summary = described?["summary"]?.stringValue ?? ""
        if summary.contains("passcode") || summary.contains("credential"), random.chance(0.8) {
            let passcode = Array(DaemonProcess.passcode.utf8)
            return summary.contains("each after its length")
                ? Self.counted(passcode) + Self.counted(passcode) : passcode
        }
        if random.chance(0.3), !Self.samples.isEmpty { return random.pick(Self.samples) }
        let most = Int(clamping: described?["maximum"]?.integerValue ?? 100)
        let least = Int(clamping: described?["minimum"]?.integerValue ?? 0)
        return random.content(random.chance(0.5) ? random.pick([least, most]) : random.size(upTo: min(most, 70_000)))
    }

    private static func counted(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }

    /// Keys, certificates and texts that have a form.
    private static let samples: [[UInt8]] = {
        let folder = "\(Project.root)/Tests/Vectors/fuzz"
        return ["certificates", "contents", "keys"].flatMap { name in
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)")) ?? []
            return files.sorted().compactMap { FileManager.default.contents(atPath: "\(folder)/\(name)/\($0)") }
                .map { Array($0) }.filter { $0.count < 32_768 }
        }
    }()

    // MARK: Values

    private mutating func value(of schema: JSONValue, for key: String) throws -> JSONValue {
        if !isTame, random.chance(0.08) { return anything() }
        if let known = known(key), random.chance(isTame ? 0.95 : 0.5) { return known }
        var chooser = random
        let all = try self.schema.merged(schema) { chooser.pick($0) }
        random = chooser
        if let words = all["enum"]?.arrayValue { return random.pick(words) }
        let types = all["type"].map { $0.arrayValue ?? [$0] } ?? [all["properties"] == nil ? "string" : "object"]
        switch random.pick(types).stringValue {
        case "object": return .object(try object(all))
        case "array":
            let count = random.below(1 + Int(min(4, all["maxItems"]?.integerValue ?? 4)))
            return .array(try (0..<count).map { _ in try value(of: all["items"] ?? ["type": "string"], for: "") })
        case "integer", "number": return .integer(number(all))
        case "boolean": return .bool(random.chance(0.5))
        case "null": return .null
        default: return .string(try text(all))
        }
    }

    private mutating func object(_ all: JSONObject) throws -> JSONObject {
        var object = JSONObject()
        for (key, part) in all["properties"]?.objectValue?.members ?? [] where part.boolValue != false {
            if random.chance(0.15) { object.set(key, try value(of: part, for: key)) }
        }
        if let other = all["additionalProperties"], other.boolValue == nil {
            for _ in 0..<random.below(4) { object.set(text(), try value(of: other, for: "")) }
        }
        return object
    }

    private mutating func anything() -> JSONValue {
        random.pick([
            .null, .bool(true), .integer(random.pick(Self.numbers)), .number(1.5), .number(1e300), .string(text()), [],
            [:],
            [.null], ["": ""], .string(String(repeating: "a", count: 70_000)),
        ])
    }

    private mutating func number(_ all: JSONObject) -> Int64 {
        let (least, most) = (all["minimum"]?.integerValue ?? .min, all["maximum"]?.integerValue ?? .max)
        if !isTame, random.chance(0.2) { return random.pick([least &- 1, most &+ 1] + Self.numbers) }
        let fitting = Self.numbers.filter { $0 >= least && $0 <= most }
        let small = fitting.filter { (0...70_000).contains($0) }
        if isTame, !small.isEmpty, random.chance(0.8) { return random.pick(small) }
        return random.pick(fitting + [least, most])
    }

    private static let numbers: [Int64] = [
        .min, .min + 1, -1_000_000, -1, 0, 1, 2, 3, 10, 100, 255, 256, 4096, 65_535, 65_536, 262_144, 1 << 31, 1 << 32,
        1 << 40, 1 << 53, (1 << 53) + 1, 1 << 62, .max - 1, .max,
    ]

    private mutating func text(_ all: JSONObject) throws -> String {
        guard let pattern = all["pattern"]?.stringValue, random.chance(0.95) else { return text() }
        let fitting = try (Self.texts + Self.odd).filter {
            try schema.faults(of: .string($0), ["type": "string", "pattern": .string(pattern)]).isEmpty
        }
        return fitting.isEmpty ? text() : random.pick(fitting)
    }

    private mutating func text() -> String {
        random.chance(0.5)
            ? random.pick(Self.texts) : random.chance(0.5) ? random.pick(Self.odd) : random.pick(NaughtyStrings.all)
    }

    private static let texts = [
        "", "a", "a/b", "A", "1", "default", "uid:0", "gid:0", "uid:4294967295", "unit:a.service", "user-unit:b.scope",
        "exe:/bin/sh", "unit:*.service", "*", "a*/?", "[!a", "\\", "login:a@b", "generic-password:a", "keybag",
        "anchor",
        "catalog", "YQ==", "AAAA", String(repeating: "0", count: 32), String(repeating: "f", count: 32),
        String(repeating: "a1", count: 32),
    ]

    private static let odd = [
        "\u{0}", "e\u{301}", "\u{301}", "\u{202E}a", "\u{FEFF}", "\n", "\u{1F468}\u{200D}\u{1F469}", "//", "/", "..",
        "./a",
        String(repeating: "n", count: 255), String(repeating: "n", count: 256),
        String(repeating: "d/", count: 2047) + "d", String(repeating: "d/", count: 2048) + "d",
        (0..<16).map { _ in String(repeating: "m", count: 255) }.joined(separator: "/"),
        String(repeating: "\u{10FFFF}", count: 63),
        // Longer than what is written after a 16-bit length.
        String(repeating: "x", count: 70_000),
    ]

    /// A value of the vault, or one that an answer has had.
    private mutating func known(_ key: String) -> JSONValue? {
        switch key {
        case "to" where isTame:
            return .string(random.chance(0.5) ? "new/\(random.below(50))" : "tree/\(random.below(50))")
        case "name", "to", "target", "item", "prefix", "service", "account":
            return .string(random.pick(isTame && random.chance(0.8) ? MethodVault.present : MethodVault.names))
        case "group", "accessGroup":
            return .string(random.chance(isTame ? 0.9 : 0.4) ? "default" : random.pick(["program:x", "user:0", ""]))
        case "attribute": return random.pick(["user.a", "user.b"])
        case "cursor", "after": return position(key)
        case "class" where random.chance(0.1): return "identity"
        default: break
        }
        let names = [
            "handle": ["handle \(client)"],
            "reference": ["reference"], "part": ["id"], "version": ["number"],
            "rule": ["rule"], "slot": ["slot"], "number": ["number"], "entry": ["entry"],
            "vaultID": ["vaultID"], "since": ["digest"], "newest": ["number"],
        ]
        let found = (names[key] ?? []).flatMap { seen[$0] ?? [] }
        return found.isEmpty ? nil : random.pick(found)
    }

    /// A place at which a listing or a check goes on.
    private mutating func position(_ key: String) -> JSONValue? {
        let found = seen[random.pick(["cursor", "next"])] ?? []
        if !found.isEmpty, random.chance(0.5) { return random.pick(found) }
        guard key == "cursor" || random.chance(0.3) else { return nil }
        let stage = random.pick([
            "secrets", "files", "lost", "new", "database", "keychainItems", "keychainTags", "past", "counts",
            "contents", "keychain", "file", "",
        ])
        let end = random.pick(["", ":", ":0", ":AAAA", ":" + String(repeating: "0", count: 32)])
        return .string("\(stage):\(random.chance(0.2) ? "" : "\(random.pick(Self.numbers))")\(end)")
    }
}
