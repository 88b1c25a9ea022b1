package import CofferCore

/// A JSON-RPC 2.0 request, or a notification if it has no identifier.
package struct Request: Equatable, Sendable {
    /// The identifier, which the response repeats; `nil` for no response.
    package let id: RequestID?
    /// The method.
    package let method: String
    /// The parameters: always an object, because parameters have names.
    package let params: JSONObject

    /// Creates a request.
    package init(id: RequestID?, method: String, params: JSONObject = [:]) {
        self.id = id
        self.method = method
        self.params = params
    }

    /// Parses a request.
    ///
    /// Unknown members of the message are ignored; unknown members of `params` are refused by a ``ParameterReader``.
    ///
    /// - Throws: ``RequestError``, which can be sent as the answer.
    package init(_ value: JSONValue) throws(RequestError) {
        guard let message = value.objectValue else { throw RequestError("the request is not an object") }
        // First, so that every other error is answered with the identifier of the request.
        id = try Self.identifier(in: message)
        guard message["jsonrpc", usuallyAt: 0]?.stringValue?.hasSameBytes(as: "2.0") == true else {
            throw RequestError("expected 'jsonrpc' to be '2.0'", id: id)
        }
        guard let method = message["method", usuallyAt: 2]?.stringValue else {
            throw RequestError("expected 'method' to be a string", id: id)
        }
        self.method = method
        guard let params = (message["params", usuallyAt: 3] ?? [:]).objectValue else {
            throw RequestError("expected 'params' to be an object", id: id)
        }
        self.params = params
    }

    private static func identifier(in message: JSONObject) throws(RequestError) -> RequestID? {
        guard let value = message["id", usuallyAt: 1] else { return nil }
        guard let id = RequestID(value) else {
            throw RequestError("expected 'id' to be a whole number, or a string of at most 64 bytes")
        }
        return id
    }

    /// The request as JSON.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        writer.write(raw: #"{"jsonrpc":"2.0""#)
        if let id {
            writer.write(raw: #","id":"#)
            writer.write(id.json)
        }
        writer.write(raw: #","method":"#)
        writer.write(method)
        writer.write(raw: #","params":"#)
        writer.write(params)
        writer.write(raw: "}")
        return writer.bytes
    }
}

/// Why a frame is not a request, with everything that the answer needs.
package struct RequestError: Error, Sendable {
    /// The identifier of the request, if it could be read.
    package let id: RequestID?
    /// The JSON-RPC code: ``RPCCode/parseError`` or ``RPCCode/invalidRequest``.
    package let code: Int
    /// What is wrong.
    package let error: CofferError

    /// Creates the error for a frame whose text is not JSON.
    ///
    /// - Parameter fault: The error in the text.
    package init(_ fault: JSONError) {
        id = nil
        code = RPCCode.parseError
        error = CofferError(.param, fault.message)
    }

    init(_ message: String, id: RequestID? = nil) {
        self.id = id
        code = RPCCode.invalidRequest
        error = CofferError(.param, message)
    }

    /// The answer, as JSON.
    package var responseBytes: [UInt8] { Response.failureBytes(id: id, error: error, rpcCode: code) }
}
