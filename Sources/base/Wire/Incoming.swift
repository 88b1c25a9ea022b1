package import CofferCore

/// A message that a client receives.
package enum Incoming: Sendable {
    /// The response to the request with that identifier; without one, to a request that the daemon could not read.
    case response(id: RequestID?, Result<JSONValue, CofferError>)
    /// A notification.
    case notification(method: String, params: JSONObject)
}

extension Incoming {
    /// Parses a message of the daemon.
    ///
    /// Members that this build does not know are ignored.
    ///
    /// - Throws: `protocolViolation` if it is neither a response nor a notification.
    package init(_ value: JSONValue) throws(CofferError) {
        guard let message = value.objectValue, message["jsonrpc"] == "2.0" else {
            throw Self.fault("it is not a JSON-RPC 2.0 object")
        }
        self = message["method"] == nil ? try Self.response(message) : try Self.notification(message)
    }

    private static func notification(_ message: JSONObject) throws(CofferError) -> Incoming {
        guard message["id"] == nil else { throw fault("it is a request") }
        guard let method = message["method"]?.stringValue, let params = (message["params"] ?? [:]).objectValue else {
            throw fault("its 'method' is not a string, or its 'params' are not an object")
        }
        return .notification(method: method, params: params)
    }

    private static func response(_ message: JSONObject) throws(CofferError) -> Incoming {
        guard let idValue = message["id"] else { throw fault("it has neither an 'id' nor a 'method'") }
        let id = RequestID(idValue)
        guard id != nil || idValue == .null else { throw fault("its 'id' is not one that a request can have") }
        switch (message["result"], message["error"]) {
        case (let result?, nil): return .response(id: id, .success(result))
        case (nil, .object(let error)?): return .response(id: id, .failure(CofferError(json: error)))
        default: throw fault("expected either a 'result' or an 'error' that is an object")
        }
    }

    private static func fault(_ reason: String) -> CofferError {
        CofferError(.protocolViolation, "the daemon sent a message that makes no sense: \(reason)")
    }
}
