import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `proto-docs/openrpc.json` as the source of `Interface` in `Sources/base/Core` and `Sources/base/Wire`.
@Suite struct InterfaceTests {
    private let rpc: OpenRPC

    init() throws { rpc = try OpenRPC() }

    @Test func `the generated sources are what packaging/tools/interface makes of it`() throws {
        let generator = URL(filePath: Project.root).appending(path: "packaging/tools/interface")
        let outcome = try Programs.run(generator, ["--check"])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func `every method, parameter and member of a result is described in sentences`() throws {
        let notifications = rpc["x-notifications"]?.arrayValue?.compactMap(\.objectValue) ?? []
        for method in rpc.methods + notifications {
            let name = method["name"]?.stringValue ?? ""
            check(method["description"], name)
            for parameter in method["params"]?.arrayValue?.compactMap(\.objectValue) ?? [] {
                check(parameter["description"], "\(name): \(parameter["name"] ?? "")")
            }
            if let result = method["result"]?.objectValue?["schema"] { try checkMembers(of: result, name) }
        }
    }

    @Test func `every word that has a meaning has it in a sentence, and no other word has one`() {
        var count = 0
        func collect(_ value: JSONValue) {
            value.arrayValue?.forEach(collect)
            for member in value.objectValue?.members ?? [] { collect(member.value) }
            guard let cases = value.objectValue?["x-cases"]?.objectValue else { return }
            count += 1
            let words = value.objectValue?["enum"]?.arrayValue?.compactMap(\.stringValue) ?? []
            #expect(Set(cases.members.map(\.key)) == Set(words))
            for (word, meaning) in cases.members { check(meaning, word) }
        }
        collect(rpc.document)
        #expect(count > 20)
    }

    private func check(_ description: JSONValue?, _ place: String) {
        let text = description?.stringValue ?? ""
        #expect(text.wholeMatch(of: /[A-Z0-9].{5,}\./) != nil, "\(place): \(text)")
    }

    /// Checks everything inside a result, except the attributes of items, which the pages describe.
    private func checkMembers(of schema: JSONValue, _ place: String) throws {
        guard let object = schema.objectValue, object["additionalProperties"]?.objectValue == nil else { return }
        if let reference = object["$ref"]?.stringValue {
            if reference.hasSuffix("/Attributes") { return }
            try checkMembers(of: try rpc.checker.target(of: reference), reference)
        }
        for part in object["allOf"]?.arrayValue ?? [] { try checkMembers(of: part, place) }
        if let items = object["items"] { try checkMembers(of: items, place) }
        for (name, member) in object["properties"]?.objectValue?.members ?? [] {
            check(member.objectValue?["description"], "\(place): \(name)")
            try checkMembers(of: member, "\(place): \(name)")
        }
    }

    @Test(arguments: Method.allCases)
    func `a result has the name of its type`(method: Method) throws {
        let name = try rpc.method(method.rawValue)["result"]?.objectValue?["name"]
        #expect(name == .string(resultName(of: method.parameters)))
    }

    private func resultName<Parameters: MethodParameters>(of type: Parameters.Type) -> String {
        String(describing: Parameters.Result.self)
    }

    @Test(arguments: Method.allCases)
    func `parameters name the method that they are of`(method: Method) {
        #expect(method.parameters.method == method)
    }

    @Test func `a bound that names a limit has its number`() throws {
        let limits = try #require(rpc["x-limits"]?.objectValue)
        var count = 0
        func check(_ value: JSONValue) {
            value.arrayValue?.forEach(check)
            guard let object = value.objectValue else { return }
            for member in object.members { check(member.value) }
            guard let limit = object["x-limit"]?.stringValue else { return }
            count += 1
            #expect((object["maximum"] ?? object["maxLength"]) == limits[limit], "\(limit)")
        }
        check(rpc.document)
        #expect(count > 30)
    }

    @Test(arguments: Method.allCases)
    func `the rules for what comes along are those of the document`(method: Method) throws {
        let described = try rpc.method(method.rawValue)
        func rule(_ side: String) -> JSONObject? { described["x-payload"]?.objectValue?[side]?.objectValue }
        for (side, found) in [("in", method.takenPayload), ("out", method.givenPayload)] {
            #expect(rule(side)?["minimum"]?.integerValue == found.map { Int64($0.bytes.lowerBound) })
            #expect(rule(side)?["maximum"]?.integerValue == found.map { Int64($0.bytes.upperBound) })
            #expect(rule(side)?["required"]?.boolValue == found?.isRequired)
        }
        #expect((described["x-descriptor"] == nil) == (method.descriptor == nil))
        #expect(described["x-notifications"]?.arrayValue?.count ?? 0 == method.notifications.count)
    }

    @Test func `every member that begins with x- is on the page, and so is every one of x-swift`() throws {
        let page = try Page("INTERFACE.md")
        var (found, bindings): (Set<String>, Set<String>) = ([], [])
        func collect(_ value: JSONValue) {
            value.arrayValue?.forEach(collect)
            for (key, value) in value.objectValue?.members ?? [] {
                if key.hasPrefix("x-") { found.insert(key) }
                if key == "x-swift" { bindings.formUnion(value.objectValue?.members.map(\.key) ?? []) }
                collect(value)
            }
        }
        collect(rpc.document)
        let rows = try page.table(["member", "stands in", "what it says"]).compactMap { $0[0].quotedWords.first }
        #expect(Set(rows) == found)
        let members = try page.table(["member", "of", "what it says"]).compactMap { $0[0].quotedWords.first }
        #expect(Set(members) == bindings)
    }
}
