import CofferCore
import CofferTestSupport
import CofferWire
import Testing

/// The schemas of the parameters in `proto-docs/openrpc.json` beside what the code reads.
@Suite struct OpenRPCParametersTests {
    /// Values of every kind, on both sides of every bound.
    private func candidates(_ rpc: OpenRPC, for schema: JSONValue) throws -> [JSONValue] {
        let numbers: [Int64] = [.min, -1, 0, 1, 2, 10, 11, 255, 256, 300, 301, 1000, 1001, .max]
        let texts = [
            "", "a", "a/b", "a//b", "/a", "a/", ".", "..", "a/..", "...", "a\u{0}b", "a\nb", "e\u{301}/\u{301}", "all",
            String(repeating: "a", count: 255), String(repeating: "a", count: 256),
            String(repeating: "a/", count: 63) + "a", String(repeating: "a/", count: 64) + "a",
            String(repeating: "0", count: 32), String(repeating: "0", count: 31), String(repeating: "A", count: 32),
            String(repeating: "0", count: 64), String(repeating: "A", count: 64), "YQ==", "YQ=", "YR==", "Y Q==",
            String(repeating: "A", count: 43) + "=", "uid:0", "uid:x",
            "gid:12345678901",
            "unit:a.service", "user-unit:", "exe:/usr/bin/mail", "exe:mail", "root:1",
        ]
        let objects: [JSONValue] = [
            [:], ["a": "b"], ["a": 1], ["": "b"], ["account": "anna"], ["account": 1],
            ["account": "anna", "nobody": ""],
            ["isNegative": true], ["isNegative": 1], ["generic": "YQ=="], ["generic": "a"], ["generic": "YR=="],
            ["generic": "YWI="], ["generic": "YWJ="], ["generic": "YWJj"], ["generic": ""], ["expiryDate": 5],
            ["expiryDate": "5"], ["accessible": "Always"], ["accessible": "Sometimes"],
            ["attributes": ["account": .null, "label": "x"]], ["attributes": ["accessible": "Always"]],
            ["user": ["a": .null]], ["user": ["a": 1]], ["accessControl": []], ["history": 101], ["nobody": 1],
            ["account": .null], ["a": .null], ["accessible": .null], ["attributes": .null], ["accessGroup": "a"],
            ["synchronizable": true], ["account": ""], ["label": "", "service": ""],
        ]
        let lists: [JSONValue] = [
            [], [.null], ["data"], ["data", "data"], ["attributes"], ["nobody"], [1], ["userPresence"],
            ["devicePasscode", "devicePasscode"], ["or"],
        ]
        var own = try bounds(rpc, of: schema).flatMap { bound in
            [bound, bound &- 1, bound &+ 1].map { JSONValue.integer($0) }
        }
        own += try words(rpc, of: schema).flatMap { word in [word, .string((word.stringValue ?? "") + "x")] }
        return own + numbers.map { .integer($0) } + texts.map { .string($0) } + objects + lists + [
            true, false, .number(1.5), .number(1),
        ]
    }

    private func bounds(_ rpc: OpenRPC, of schema: JSONValue) throws -> [Int64] {
        try all(rpc, of: schema).flatMap { part in ["minimum", "maximum"].compactMap { part[$0]?.integerValue } }
    }

    private func words(_ rpc: OpenRPC, of schema: JSONValue) throws -> [JSONValue] {
        try all(rpc, of: schema).flatMap { $0["enum"]?.arrayValue ?? [] }
    }

    /// The schema and those beside it.
    private func all(_ rpc: OpenRPC, of schema: JSONValue) throws -> [JSONObject] {
        guard let object = schema.objectValue else { return [] }
        var parts = ["allOf", "anyOf"].flatMap { object[$0]?.arrayValue ?? [] }
        if let reference = object["$ref"]?.stringValue { parts.append(try rpc.checker.target(of: reference)) }
        return try [object] + parts.flatMap { try all(rpc, of: $0) }
    }

    /// Rules that a schema can't express: the code refuses the value although the schema does not.
    private static let refusedByCode: [String: [JSONValue]] = ["accessControl": [["or"]]]

    @Test(arguments: Method.allCases)
    func `a value is taken by the schema where the code takes it`(method: Method) throws {
        let rpc = try OpenRPC()
        let described = try rpc.method(method.rawValue)
        let least = try rpc.leastParameters(of: method)
        for parameter in OpenRPC.parameters(of: described) {
            for value in try candidates(rpc, for: parameter.schema) {
                var params = least
                if parameter.name == "generate" { params.set("class", "key") }
                params.set(parameter.name, value)
                let alone = try rpc.faults(of: params, of: described)
                let together = try rpc.faultsTogether(of: params, of: described)
                let refusal = method.refusal(of: params)
                let isExcepted = Self.refusedByCode[parameter.name]?.contains(value) == true
                if alone.isEmpty && together.isEmpty && !isExcepted {
                    #expect(refusal == nil, "\(parameter.name): \(value): \(refusal?.message ?? "")")
                }
                // What the schemas refuse together, a handler may refuse later; so it does a credential for a slot.
                let isForLater = value == "recoveryKey" && [.slotAdd, .slotRemove].contains(method)
                if !alone.isEmpty && !isForLater { #expect(refusal != nil, "\(parameter.name): \(value): \(alone)") }
            }
        }
    }

    @Test(arguments: Method.allCases)
    func `a parameter that is not named is refused by both, and null is as good as nothing, or refused`(
        method: Method
    )
        throws
    {
        let rpc = try OpenRPC()
        let described = try rpc.method(method.rawValue)
        var params = try rpc.leastParameters(of: method)
        let others = OpenRPC.parameters(of: described).filter { params[$0.name] == nil }
        for parameter in others where parameter.null == nil { params.set(parameter.name, .null) }
        #expect(try rpc.faults(of: params, of: described) == [])
        #expect(method.refusal(of: params) == nil)
        for parameter in OpenRPC.parameters(of: described) where parameter.null == "refused" {
            var refused = params
            refused.set(parameter.name, .null)
            #expect(try !rpc.faults(of: refused, of: described).isEmpty)
            let refusal = method.refusal(of: refused)
            #expect(refusal?.code == .param && refusal?.message.contains("'\(parameter.name)'") == true)
        }
        params.set("nobodyKnowsThis", 1)
        #expect(try !rpc.faults(of: params, of: described).isEmpty)
        #expect(method.refusal(of: params) != nil)
    }

    /// A method that removes or destroys takes no `null` at all: absence is often wider.
    @Test func `a method that deletes refuses every null`() throws {
        let rpc = try OpenRPC()
        for described in rpc.methods where described["x-verbs"] == ["delete"] {
            for parameter in OpenRPC.parameters(of: described) where !parameter.isRequired {
                #expect(parameter.null == "refused" || parameter.name == "progress", "\(described["name"] ?? "")")
            }
        }
    }

    @Test(arguments: Method.allCases)
    func `null inside a parameter is refused at any depth, and its place is named`(method: Method) throws {
        let places: [(JSONValue, String)] = [
            (["account": .null], ".account"), (.array([.null]), "[0]"), (["a": .array([["b": .null]])], ".a[0].b"),
        ]
        let rpc = try OpenRPC()
        let least = try rpc.leastParameters(of: method)
        for parameter in OpenRPC.parameters(of: try rpc.method(method.rawValue)) {
            for (value, place) in places {
                var params = least
                params.set(parameter.name, value)
                let refusal = method.refusal(of: params)
                #expect(refusal?.code == .param, "\(parameter.name)\(place)")
                let isNamed = refusal?.message.contains("'\(parameter.name)\(place)'") == true
                #expect(isNamed || parameter.null == "removes", "\(refusal?.message ?? "")")
            }
        }
    }
}
