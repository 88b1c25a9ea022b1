import CofferCore
import CofferService
import CofferTestSupport
import CofferVault
import CofferWire
import Testing

/// `proto-docs/openrpc.json` beside the code and the pages.
@Suite struct OpenRPCTests {
    private let rpc: OpenRPC

    init() throws { rpc = try OpenRPC() }

    @Test func `the file has one canonical form, so that a diff shows only the change`() {
        let found = rpc.text.split(separator: "\n", omittingEmptySubsequences: false)
        let expected = OpenRPC.formatted(rpc.document).split(separator: "\n", omittingEmptySubsequences: false)
        let place = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }
        #expect(place == nil, "line \((place?.offset ?? 0) + 1): expected \(place?.element.1 ?? "")")
        #expect(found.count == expected.count)
    }

    @Test func `a reason to refuse a method is one of the codes that it is answered with`() {
        for method in rpc.methods {
            let errors = Set(OpenRPC.errors(of: method))
            for (code, reasons) in method["x-refusals"]?.objectValue?.members ?? [] {
                #expect(errors.contains(code), "\(method["name"]?.stringValue ?? ""): \(code)")
                #expect(reasons.arrayValue?.isEmpty == false)
            }
        }
    }

    @Test func `it is of OpenRPC 1.3 and of this protocol`() throws {
        #expect(rpc["openrpc"]?.stringValue?.hasPrefix("1.3.") == true)
        #expect(rpc["info", "version"] == .string("\(Version.protocolNumber)"))
        for method in rpc.methods {
            #expect(method["summary"]?.stringValue?.isEmpty == false, "\(method)")
            #expect(method["paramStructure"] == "by-name")
            #expect(method["result"]?.objectValue?["schema"]?.objectValue != nil)
        }
    }

    @Test func `its objects have the members that OpenRPC 1.3 gives them, and others only with the prefix x-`() throws {
        func check(_ value: JSONValue?, _ known: Set<String>, mayExtend: Bool = true) {
            let members = value?.objectValue?.members.map(\.key) ?? []
            let unknown = members.filter { !known.contains($0) && !(mayExtend && $0.hasPrefix("x-")) }
            #expect(unknown.isEmpty && !members.isEmpty)
        }
        check(rpc.document, ["openrpc", "info", "methods", "components"])
        check(rpc["info"], ["title", "version", "description"])
        check(rpc["components"], ["schemas", "errors"])
        for error in rpc["components", "errors"]?.objectValue?.members ?? [] {
            check(error.value, ["code", "message", "data"], mayExtend: false)
        }
        for method in rpc.methods {
            check(.object(method), ["name", "summary", "description", "paramStructure", "params", "result", "errors"])
            for descriptor in (method["params"]?.arrayValue ?? []) + [method["result"] ?? .null] {
                check(descriptor, ["name", "summary", "description", "schema", "required"])
            }
            for error in method["errors"]?.arrayValue ?? [] { check(error, ["$ref"], mayExtend: false) }
        }
    }

    @Test func `its methods are those of the code, sorted`() {
        let found = rpc.methods.map { $0["name"]?.stringValue ?? "" }
        let expected = Method.allCases.map(\.rawValue).sorted()
        #expect(found == expected)
    }

    @Test func `its notifications are those of the code, with their members`() throws {
        let all = rpc["x-notifications"]?.arrayValue?.compactMap { $0.objectValue?["name"]?.stringValue }
        #expect(all == Notification.allCases.map(\.rawValue))
        let progress = OpenRPC.parameters(of: try rpc.notification("progress"))
        let members = ProgressParameters(done: 1, total: 2, request: .integer(1)).json.members.map(\.key)
        #expect(progress.map(\.name) == members)
        let told = Set(rpc.methods.flatMap { $0["x-notifications"]?.arrayValue ?? [] }.compactMap(\.stringValue))
        #expect(told == Set(Notification.allCases.map(\.rawValue)))
    }

    @Test func `its errors are those of the code, with their numbers`() throws {
        let errors = try #require(rpc["components", "errors"]?.objectValue)
        #expect(errors.members.map(\.key) == ErrorCode.table.map(\.code.rawValue).sorted())
        for row in ErrorCode.table {
            let error = try #require(errors[row.code.rawValue]?.objectValue)
            let answer = try JSONSchemaTests.json(
                String(decoding: Response.failureBytes(id: nil, error: CofferError(row.code, "x")), as: UTF8.self)
            )
            #expect(error["code"] == answer.objectValue?["error"]?.objectValue?["code"])
            let data = try #require(error["data"]?.objectValue)
            #expect(data["code"] == .string(row.code.rawValue))
            #expect(data["osStatus"] == .integer(Int64(row.osStatus)))
            let cocoa = data["x-cocoaCode"]?.objectValue
            #expect(cocoa?["read"]?.integerValue == row.cocoaRead.map(Int64.init))
            #expect(cocoa?["write"]?.integerValue == row.cocoaWrite.map(Int64.init))
            let retry = row.code == .interactionNotAllowed ? "afterUnlock" : "never"
            #expect(data["retry"] == .string(retry))
        }
        let faults = rpc["x-framing", "faults"]?.arrayValue?.compactMap { $0.objectValue?["code"]?.integerValue }
        #expect(faults == [Int64(RPCCode.parseError), Int64(RPCCode.invalidRequest)])
    }

    @Test func `its limits are those of the code`() throws {
        let limits = try #require(rpc["x-limits"]?.objectValue).members.map {
            ($0.key, "\($0.value.integerValue ?? -1)")
        }
        #expect(Dictionary(uniqueKeysWithValues: limits) == ProtocolPageTests.limits)
        let header = rpc["x-framing", "header"]?.arrayValue?.compactMap { $0.objectValue?["maximum"]?.integerValue }
        #expect(header == [Int64(Limits.frameJSONBytes), Int64(Limits.framePayloadBytes)])
    }

    @Test func `two passcodes fit into the payload that changes one into the other`() {
        #expect(Method.passcodeChange.takenPayload?.bytes.upperBound == 2 * (2 + Limits.passcodeBytes))
    }

    @Test(arguments: Method.allCases)
    func `the answers by state are those of the gate`(method: Method) throws {
        let reference = try #require(try rpc.method(method.rawValue)["x-states"]?.objectValue?["$ref"]?.stringValue)
        let states = try #require(try rpc.checker.target(of: reference).objectValue)
        #expect(Set(states.members.map(\.key)) == Set(VaultState.allCases.map(\.rawValue)))
        for state in VaultState.allCases {
            let refusal = Gate.refusal(of: method, in: state)?.code.rawValue
            #expect(states[state.rawValue] == .string(refusal ?? "yes"), "\(state)")
            let known = OpenRPC.errors(of: try rpc.method(method.rawValue))
            if let refusal { #expect(known.contains(refusal)) }
        }
    }

    @Test(arguments: Method.allCases)
    func `the parameters are those that the method reads, in their order, and required if it misses them`(
        method: Method
    ) throws {
        let described = try rpc.method(method.rawValue)
        let found = OpenRPC.parameters(of: described)
        #expect(try found.map(\.name) == method.parametersRead(rpc))
        // A query has a class, or a reference instead: that is said of both together.
        let query: JSONValue = ["$ref": "#/components/schemas/KeychainQuery"]
        let rule = described["x-paramsSchema"]
        let isQuery = rule == query || rule?.objectValue?["allOf"]?.arrayValue?.contains(query) == true
        let required = found.filter { $0.isRequired || isQuery && $0.name == "class" }.map(\.name)
        #expect(try required == method.parametersMissed(rpc))
        for parameter in found {
            let defaults = ["default", "x-default"].filter { parameter.schema.objectValue?[$0] != nil }
            #expect(defaults.count == (parameter.isRequired ? 0 : 1), "\(parameter.name)")
            if let standard = parameter.schema.objectValue?["default"], parameter.schema.objectValue?["$ref"] == nil {
                #expect(try rpc.checker.faults(of: standard, parameter.schema) == [], "\(parameter.name)")
            }
        }
    }

    @Test func `it uses no more of JSON Schema than its checker knows, and no reference leads nowhere`() throws {
        var rest = rpc.schemas
        while let schema = rest.popLast() {
            let unknown = (schema.objectValue?.members.map(\.key) ?? []).filter { !JSONSchema.keywords.contains($0) }
            #expect(unknown.isEmpty)
            rest += JSONSchema.parts(of: schema)
        }
        for match in rpc.text.matches(of: /"\$ref": "([^"]+)"/) {
            #expect(throws: Never.self) { try rpc.checker.target(of: String(match.1)) }
        }
        let used = Set(rpc.text.matches(of: /"#\/components\/(?:schemas|x-states)\/(\w+)"/).map { String($0.1) })
        let named = ["schemas", "x-states"].flatMap { rpc["components", $0]?.objectValue?.members.map(\.key) ?? [] }
        #expect(Set(named).subtracting(used).isEmpty)
    }

    @Test func `its words are those of the code`() throws {
        func words(_ name: String) -> [String]? {
            rpc["components", "schemas", name, "enum"]?.arrayValue?.compactMap(\.stringValue)
        }
        #expect(words("State") == VaultState.allCases.map(\.rawValue))
        #expect(words("Stage") == CheckStage.allCases.map(\.rawValue))
        #expect(words("Damage") == Damage.allCases.map(\.rawValue))
        #expect(words("Repair") == Repair.allCases.map(\.rawValue))
        #expect(words("AttributeName") == KeychainAttribute.allCases.map(\.rawValue))
        let classes = try #require(rpc["x-keychainClasses"]?.objectValue)
        #expect(Set(classes.members.map(\.key)) == Set(ItemClass.allCases.map(\.rawValue)))
        for itemClass in ItemClass.allCases {
            let described = try #require(classes[itemClass.rawValue]?.objectValue)
            let attributes = described["attributes"]?.arrayValue?.compactMap(\.stringValue)
            #expect(attributes == KeychainAttribute.attributes(of: itemClass).map(\.rawValue))
            let unique = described["unique"]?.arrayValue?.compactMap(\.stringValue)
            #expect(unique == KeychainAttribute.primaryKey(of: itemClass).map(\.rawValue))
        }
    }
}
