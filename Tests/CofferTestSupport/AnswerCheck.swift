package import CofferCore
package import CofferWire

/// Checks each answer that a test receives against `proto-docs/openrpc.json`.
package struct AnswerCheck: Sendable {
    /// Of a longer list only the first and the last elements are checked: a thousand of them would take half
    /// a second.
    private static let elementLimit = 16

    private let checker: JSONSchema
    private let results: [String: JSONValue]
    private let errors: [String: Set<String>]
    private let news: [String: JSONObject]
    private let rpc: OpenRPC

    private static let shared = Result { try AnswerCheck() }

    private init() throws {
        rpc = try OpenRPC()
        checker = JSONSchema(document: rpc.document, tellsUnknown: true, elementLimit: Self.elementLimit)
        var results: [String: JSONValue] = [:]
        var errors: [String: Set<String>] = [:]
        for method in rpc.methods {
            let name = method["name"]?.stringValue ?? ""
            results[name] = method["result"]?.objectValue?["schema"]
            errors[name] = Set(OpenRPC.errors(of: method))
        }
        self.results = results
        self.errors = errors
        let news = rpc["x-notifications"]?.arrayValue?.compactMap(\.objectValue) ?? []
        self.news = Dictionary(uniqueKeysWithValues: news.map { ($0["name"]?.stringValue ?? "", $0) })
    }

    /// Refuses an answer that the document does not describe.
    ///
    /// - Parameters:
    ///   - outcome: The result or the error.
    ///   - method: The method.
    /// - Throws: `protocolViolation` with what the document lacks.
    package static func check(
        _ outcome: Result<JSONValue, CofferError>,
        to method: CofferWire.Method
    ) throws(CofferError) {
        try refuse { (check) throws in
            switch outcome {
            case .success(let result):
                return try check.checker.faults(of: result, check.results[method.rawValue] ?? false)
            case .failure(let error):
                let isKnown = check.errors[method.rawValue]?.contains(error.code.rawValue) ?? false
                return isKnown ? [] : ["the error \(error.code.rawValue): \(error.message)"]
            }
        }
    }

    /// Refuses a notification that the document does not describe.
    ///
    /// - Parameters:
    ///   - name: The notification.
    ///   - params: Its parameters.
    /// - Throws: `protocolViolation` with what the document lacks.
    package static func checkNews(_ name: String, _ params: JSONObject) throws(CofferError) {
        try refuse { (check) throws in
            guard let described = check.news[name] else { return ["the notification \(name)"] }
            return try check.rpc.faults(of: params, of: described)
        }
    }

    private static func refuse(where look: (AnswerCheck) throws -> [String]) throws(CofferError) {
        let faults: [String]
        do { faults = try look(try shared.get()) } catch {
            throw CofferError(.protocolViolation, "can't read openrpc.json: \(error)")
        }
        if faults.isEmpty { return }
        throw CofferError(.protocolViolation, "openrpc.json does not describe this: \(faults.joined(separator: "; "))")
    }
}
