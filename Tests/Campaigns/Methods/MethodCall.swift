import CofferTestSupport
import CofferWire
import Foundation

/// What is passed along with a call.
enum Passed: String, CaseIterable {
    case null, file, pipe, socket

    /// A descriptor, and what has to stay open with it.
    func open() -> [Int32] {
        var pair: [Int32] = [-1, -1]
        switch self {
        case .null: return [Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)]
        case .file:
            var path = Array("/tmp/coffer-methods.XXXXXX".utf8CString)
            let file = mkstemp(&path)
            unlink(path)
            return [file]
        case .pipe: _ = Glibc.pipe(&pair)
        case .socket: _ = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair)
        }
        // The end to write comes first.
        return self == .pipe ? pair.reversed() : pair
    }
}

/// A call of any method.
struct MethodCall {
    /// What is done in place of a call.
    enum Change: String {
        /// The daemon starts again.
        case restart
        /// The daemon starts again, on the vault as it was at first.
        case renew
    }

    var method: String
    var params: JSONObject
    var payload: [UInt8] = []
    var passed: Passed?
    /// The number of the connection.
    var client = 0

    init(_ method: String, _ params: JSONObject = [:], _ payload: [UInt8] = [], passed: Passed? = nil, client: Int = 0)
    {
        (self.method, self.params, self.payload) = (method, params, payload)
        (self.passed, self.client) = (passed, client)
    }

    init(_ change: Change) { self.init(change.rawValue) }

    var change: Change? { Change(rawValue: method) }
}

extension MethodCall: CustomStringConvertible {
    /// One line of a file of ``MethodScript``.
    var description: String {
        var call: JSONObject = ["method": .string(method), "params": .object(params)]
        if !payload.isEmpty { call.set("payload", .string(Data(payload).base64EncodedString())) }
        if let passed { call.set("passed", .string(passed.rawValue)) }
        if client > 0 { call.set("client", .integer(Int64(client))) }
        var writer = JSONWriter()
        writer.write(.object(call))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    init?(_ value: JSONValue) {
        guard let call = value.objectValue, let method = call["method"]?.stringValue else { return nil }
        self.method = method
        params = call["params"]?.objectValue ?? [:]
        payload = call["payload"]?.stringValue.flatMap { Data(base64Encoded: $0) }.map { Array($0) } ?? []
        passed = call["passed"]?.stringValue.flatMap { Passed(rawValue: $0) }
        client = call["client"] == nil ? 0 : 1
    }
}

/// A state of a vault, the statements that damage it, and the calls to it.
struct MethodScript {
    let scene: MethodScene
    var damage: [String] = []
    /// Whether the calls that lead to the state are among its calls.
    var bringsItself = false
    var calls: [MethodCall] = []

    /// The scripts that are kept, by their names.
    static func kept() throws -> [(name: String, script: MethodScript)] {
        let folder = "\(Project.root)/Tests/Vectors/methods"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            guard let script = try MethodScript(text) else { throw Fault("'\(name)' is no script") }
            return (name, script)
        }
    }

    init(_ scene: MethodScene) { self.scene = scene }

    private init?(_ text: String) throws {
        let lines = try text.split(separator: "\n").map { line in
            let bytes = Array(line.utf8)
            return try JSONValue(parsing: bytes.span.bytes)
        }
        guard let head = lines.first?.objectValue, let name = head["state"]?.stringValue,
            let scene = MethodScene(rawValue: name)
        else { return nil }
        self.scene = scene
        damage = head["damage"]?.arrayValue?.compactMap(\.stringValue) ?? []
        bringsItself = head["brings"]?.boolValue ?? false
        calls = lines.dropFirst().compactMap { MethodCall($0) }
        if calls.count != lines.count - 1 { return nil }
    }

    /// Its file.
    var text: String {
        let head: JSONObject = [
            "state": .string(scene.rawValue), "damage": .array(damage.map { .string($0) }),
            "brings": .bool(bringsItself),
        ]
        var writer = JSONWriter()
        writer.write(.object(head))
        return ([String(decoding: writer.bytes, as: UTF8.self)] + calls.map(\.description)).joined(separator: "\n")
            + "\n"
    }
}
