package import CofferWire
import Foundation

/// The parsed `proto-docs/openrpc.json`.
package struct OpenRPC: Sendable {
    package let text: String
    package let document: JSONValue
    /// A checker of results, for which an undescribed member is a fault of the document.
    package let checker: JSONSchema

    package init() throws {
        let bytes = [UInt8](
            try Data(contentsOf: URL(filePath: Project.root).appending(path: "proto-docs/openrpc.json"))
        )
        text = String(decoding: bytes, as: UTF8.self)
        document = try JSONValue(parsing: bytes.span.bytes)
        checker = JSONSchema(document: document, tellsUnknown: true)
    }

    /// The document lacks something.
    package struct Missing: Error {
        package let what: String
    }

    /// A parameter of a method or of a notification.
    package struct Parameter {
        package let name: String
        package let isRequired: Bool
        package let schema: JSONValue
        /// What `null` means: nothing, `refused`, or that it `removes` something inside.
        package let null: String?
    }

    package subscript(path: String...) -> JSONValue? {
        path.reduce(Optional(document)) { value, key in value?.objectValue?[key] }
    }

    package var methods: [JSONObject] { self["methods"]?.arrayValue?.compactMap(\.objectValue) ?? [] }

    package func method(_ name: String) throws -> JSONObject {
        guard let method = methods.first(where: { $0["name"] == .string(name) }) else {
            throw OpenRPC.Missing(what: name)
        }
        return method
    }

    package func notification(_ name: String) throws -> JSONObject {
        let all = self["x-notifications"]?.arrayValue?.compactMap(\.objectValue) ?? []
        guard let match = all.first(where: { $0["name"] == .string(name) }) else { throw OpenRPC.Missing(what: name) }
        return match
    }

    package static func parameters(of method: JSONObject) -> [Parameter] {
        let all = method["params"]?.arrayValue?.compactMap(\.objectValue) ?? []
        return all.map { parameter in
            Parameter(
                name: parameter["name"]?.stringValue ?? "",
                isRequired: parameter["required"] == true,
                schema: parameter["schema"] ?? false,
                null: parameter["x-null"]?.stringValue
            )
        }
    }

    /// The faults of the single parameters of a request or a notification.
    package func faults(of params: JSONObject, of method: JSONObject) throws -> [String] {
        let known = Self.parameters(of: method)
        var faults = params.members.map(\.key).filter { key in !known.contains { $0.name == key } }
        for parameter in known {
            switch params[parameter.name] {
            case .null? where parameter.null == "refused": faults.append("\(parameter.name) is null")
            case nil, .null?: if parameter.isRequired { faults.append("\(parameter.name) is missing") }
            case let value?: faults += try checker.faults(of: value, parameter.schema, at: parameter.name)
            }
        }
        return faults
    }

    /// The faults of the combination of parameters.
    package func faultsTogether(of params: JSONObject, of method: JSONObject) throws -> [String] {
        guard let rule = method["x-paramsSchema"] else { return [] }
        var given = JSONObject()
        for (key, value) in params.members where value != .null { given.set(key, value) }
        return try JSONSchema(document: document).faults(of: .object(given), rule)
    }

    /// The faults of a message, except those of its parameters or its result.
    package func faults(ofMessage message: JSONValue, _ kind: String) throws -> [String] {
        let faults = try checker.faults(of: message, ["$ref": .string("#/components/schemas/\(kind)")])
        return faults.filter { !$0.hasPrefix("/params/") && !$0.hasPrefix("/result/") }
    }

    /// The names of a method's errors.
    package static func errors(of method: JSONObject) -> [String] {
        let references = method["errors"]?.arrayValue?.compactMap { $0.objectValue?["$ref"]?.stringValue } ?? []
        return references.map { $0.replacing("#/components/errors/", with: "") }
    }

    /// All outermost schemas of the document.
    package var schemas: [JSONValue] {
        let described = methods + (self["x-notifications"]?.arrayValue?.compactMap(\.objectValue) ?? [])
        let named = self["components", "schemas"]?.objectValue?.members.map(\.value) ?? []
        return named + described.flatMap { Self.parameters(of: $0).map(\.schema) }
            + described.compactMap { $0["x-paramsSchema"] }
            + described.compactMap { $0["result"]?.objectValue?["schema"] }
    }
}

// MARK: - The form of the file

extension OpenRPC {
    /// The document in the form of its file.
    ///
    /// Members are sorted, except those of `properties`. The indentation is two spaces, a value that fits
    /// into 119 characters is on one line, and lists of words are filled.
    package static func formatted(_ document: JSONValue) -> String {
        lines(of: document, "", indent: 0, lead: 0) + "\n"
    }

    private static func lines(of value: JSONValue, _ key: String, indent: Int, lead: Int) -> String {
        let short = line(of: value, key)
        if short == "{}" || short == "[]" { return short }
        if indent > 0 && indent + lead + short.unicodeScalars.count < 120 { return short }
        let margin = String(repeating: " ", count: indent + 2)
        let end = "\n" + String(repeating: " ", count: indent)
        switch value {
        case .object(let object):
            let parts = ordered(object, key).map { key, value in
                let name = line(of: .string(key)) + ": "
                return margin + name + lines(of: value, key, indent: indent + 2, lead: name.unicodeScalars.count)
            }
            return "{\n" + parts.joined(separator: ",\n") + end + "}"
        case .array(let elements) where elements.allSatisfy(isWord):
            return "[\n" + filled(elements, margin) + end + "]"
        case .array(let elements):
            let parts = elements.map { margin + lines(of: $0, "", indent: indent + 2, lead: 0) }
            return "[\n" + parts.joined(separator: ",\n") + end + "]"
        default: return short
        }
    }

    private static func filled(_ elements: [JSONValue], _ margin: String) -> String {
        var lines = [""]
        for (index, element) in elements.enumerated() {
            let word = line(of: element) + (index < elements.count - 1 ? "," : "")
            let isFirst = lines[lines.count - 1].isEmpty
            let added = (isFirst ? margin : " ") + word
            if !isFirst && lines[lines.count - 1].unicodeScalars.count + added.unicodeScalars.count > 120 {
                lines.append(margin + word)
            } else {
                lines[lines.count - 1] += added
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func isWord(_ value: JSONValue) -> Bool {
        switch value {
        case .array: false
        case .object(let object):
            object.members.count == 1
                && object.members.allSatisfy { $0.value.arrayValue == nil && $0.value.objectValue == nil }
        default: true
        }
    }

    private static func line(of value: JSONValue, _ key: String = "") -> String {
        switch value {
        case .object(let object):
            return "{"
                + ordered(object, key).map { line(of: .string($0)) + ": " + line(of: $1, $0) }.joined(separator: ", ")
                + "}"
        case .array(let elements): return "[" + elements.map { line(of: $0) }.joined(separator: ", ") + "]"
        default:
            var writer = JSONWriter()
            writer.write(value)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    private static func ordered(_ object: JSONObject, _ key: String) -> [(key: String, value: JSONValue)] {
        key == "properties"
            ? object.members : object.members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
