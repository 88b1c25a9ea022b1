package import CofferWire

extension OpenRPC {
    /// The parameters that a method can't do without, each with a plain value.
    ///
    /// - Throws: If a rule over all parameters wants more than two of the optional ones.
    package func leastParameters(of method: Method) throws -> JSONObject {
        let described = try self.method(method.rawValue)
        let known = Self.parameters(of: described)
        var least = JSONObject()
        for parameter in known where parameter.isRequired {
            least.set(parameter.name, try plainValue(of: parameter.schema))
        }
        let optional = known.filter { !$0.isRequired }
        // The last parameter of a query is 'all', which accompanies any other.
        let choices = [[]] + optional.flatMap { first in [[first]] + optional.reversed().map { [first, $0] } }
        for choice in choices {
            var params = least
            for parameter in choice { params.set(parameter.name, try plainValue(of: parameter.schema)) }
            if try faultsTogether(of: params, of: described) == [] { return params }
        }
        throw Missing(what: "parameters that \(method.rawValue) takes")
    }

    /// A value that a schema takes.
    private func plainValue(of schema: JSONValue) throws -> JSONValue {
        let all = try checker.merged(schema) { $0[0] }
        if let word = all["enum"]?.arrayValue?.first { return word }
        switch all["type"]?.stringValue {
        case "object": return [:]
        case "array": return .array(try all["items"].map { [try plainValue(of: $0)] } ?? [])
        case "integer": return .integer(max(1, all["minimum"]?.integerValue ?? 1))
        case "boolean": return true
        default:
            // A name, a client, a path, an identifier, a digest, a key.
            let texts = ["user.a", "uid:1", "/a"] + [32, 64].map { String(repeating: "0", count: $0) }
            for text in texts + [String(repeating: "A", count: 43) + "="] {
                if try checker.faults(of: .string(text), schema) == [] { return .string(text) }
            }
            throw Missing(what: "a text for \(schema)")
        }
    }
}
