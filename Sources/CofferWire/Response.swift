package import CofferCore

/// Writes the messages of the daemon.
package enum Response {
    /// The response to a request that succeeded.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request.
    ///   - result: The result.
    package static func successBytes(id: RequestID, result: JSONValue) -> [UInt8] {
        var writer = beginning(id: id)
        writer.write(raw: #","result":"#)
        writer.write(result)
        writer.write(raw: "}")
        return writer.bytes
    }

    /// The response to a request that failed.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request; `nil`, which becomes `null`, if it could not be read.
    ///   - error: The error.
    ///   - rpcCode: The JSON-RPC code; `nil` for that of the error itself.
    package static func failureBytes(id: RequestID?, error: CofferError, rpcCode: Int? = nil) -> [UInt8] {
        var writer = beginning(id: id)
        writer.write(raw: #","error":"#)
        writer.write(error.json(rpcCode: rpcCode))
        writer.write(raw: "}")
        return writer.bytes
    }

    /// A notification.
    ///
    /// - Parameters:
    ///   - method: The name of the notification.
    ///   - params: Its parameters.
    package static func notificationBytes(method: String, params: JSONObject) -> [UInt8] {
        Request(id: nil, method: method, params: params).serialized()
    }

    private static func beginning(id: RequestID?) -> JSONWriter {
        var writer = JSONWriter(capacity: 128)
        writer.write(raw: #"{"jsonrpc":"2.0","id":"#)
        writer.write(id?.json ?? .null)
        return writer
    }
}
