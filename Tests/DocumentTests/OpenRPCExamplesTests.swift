import CofferTestSupport
import CofferWire
import Testing

/// The messages that stand on the pages, beside `proto-docs/openrpc.json`.
@Suite struct OpenRPCExamplesTests {
    private static let pages = [
        "PROTOCOL.md", "KEYCHAIN.md", "FILES.md", "DOCTOR.md", "ACCESS-CONTROL.md", "EVENTS.md", "KEYS.md",
        "ROUTING.md", "CLI.md",
    ]

    @Test func `every message on the pages is as the document has it`() throws {
        let rpc = try OpenRPC()
        var count = 0
        for name in Self.pages {
            let page = try Page(name)
            var messages = try page.blocks("json").joined().map { try JSONSchemaTests.json(String($0)) }
            messages += try page.blocks("hex").map(Self.message)
            count += messages.count
            var methods: [String: JSONObject] = [:]
            for message in messages { try Self.check(message, rpc, &methods, name) }
        }
        #expect(count >= 6)
    }

    /// A request, a reply to one that stands before it, an error, or news.
    static func check(
        _ message: JSONValue,
        _ rpc: OpenRPC,
        _ methods: inout [String: JSONObject],
        _ page: String
    ) throws {
        let object = try #require(message.objectValue)
        let id = "\(object["id"] ?? .null)"
        if let name = object["method"]?.stringValue {
            let described = try object["id"] == nil ? rpc.notification(name) : rpc.method(name)
            methods[id] = described
            let params = object["params"]?.objectValue ?? [:]
            #expect(try rpc.faults(ofMessage: message, "Request") == [], "\(page): \(message)")
            #expect(try rpc.faults(of: params, of: described) == [], "\(page): \(message)")
            #expect(try rpc.faultsTogether(of: params, of: described) == [], "\(page): \(message)")
            return
        }
        #expect(try rpc.faults(ofMessage: message, "Response") == [], "\(page): \(message)")
        if let error = object["error"]?.objectValue {
            let code = try #require(error["data"]?.objectValue?["code"]?.stringValue)
            let known = try #require(rpc["components", "errors", code]?.objectValue)
            #expect(error["code"] == known["code"], "\(page): \(message)")
            #expect(error["data"]?.objectValue?["osStatus"] == known["data"]?.objectValue?["osStatus"])
            if let described = methods[id] { #expect(OpenRPC.errors(of: described).contains(code)) }
            return
        }
        let described = try #require(methods[id], "\(page): no request stands before \(message)")
        let schema = try #require(described["result"]?.objectValue?["schema"])
        #expect(try rpc.checker.faults(of: try #require(object["result"]), schema) == [], "\(page): \(message)")
    }

    /// The message in a dump of a frame, which has to be whole.
    private static func message(_ dump: [Substring]) throws -> JSONValue {
        let bytes = ProtocolExamplesTests.bytes(dump)
        let counts = [0, 4].map { start in bytes[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) } }
        #expect(bytes.count == FrameHeader.byteCount + counts[0] + counts[1])
        let text = Array(bytes[FrameHeader.byteCount..<(FrameHeader.byteCount + counts[0])])
        return try JSONValue(parsing: text.span.bytes)
    }
}
