import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Testing

/// The audit records fields of a request up to a bound.
@Suite struct AuditBoundsTests {
    @Test func `a name, a group and a reason that are none by their length do no harm`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        let long = String(repeating: "a", count: 1 << 17)
        let grant: JSONObject = ["name": "a", "client": "uid:1", "verbs": ["read"], "reason": .string(long)]
        let requests: [(CofferWire.Method, JSONObject)] = [
            (.itemGet, ["name": .string(long)]), (.itemPut, ["name": "a", "group": .string(long)]),
            (.accessAllow, grant),
            (.accessAllow, ["client": .string(long), "verbs": .array([.string(long)]), "pattern": .string(long)]),
        ]
        var connection = try RawConnection(server)
        for (method, params) in requests {
            try connection.send(method, params)
            let refusal = try connection.refusal()
            #expect(refusal != nil, "\(method)")
        }
        // The audit is written in the commit of a change.
        try client.put("a", [1])
        #expect(try client.get("a") == [1])
        withExtendedLifetime(server) {}
    }
}
