package import CofferCore

/// Writes the messages of the daemon.
package enum Response {
    /// The response to a request that succeeded.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request.
    ///   - result: The result.
    package static func successBytes(id: RequestID, result: JSONValue) -> [UInt8] {
        var writer = JSONWriter(capacity: usualBytes)
        write(id: id, result: result, to: &writer)
        return writer.bytes
    }

    /// The frame of the response to a request that succeeded, without its payload.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request.
    ///   - result: The result.
    ///   - payloadCount: The size of the payload.
    package static func successFrame(id: RequestID, result: JSONObject, payloadCount: Int) -> [UInt8] {
        var writer = JSONWriter(frameCapacity: usualBytes)
        write(id: id, result: .object(result), to: &writer)
        return writer.finishFrame(payloadCount: payloadCount)
    }

    private static func write(id: RequestID, result: JSONValue, to writer: inout JSONWriter) {
        begin(id: id, &writer)
        writer.write(raw: #","result":"#)
        writer.write(result)
        writer.write(raw: "}")
    }

    /// The response to a request that failed.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request; `nil`, which becomes `null`, if it could not be read.
    ///   - error: The error.
    ///   - rpcCode: The JSON-RPC code; `nil` for that of the error itself.
    package static func failureBytes(id: RequestID?, error: CofferError, rpcCode: Int? = nil) -> [UInt8] {
        var writer = JSONWriter(capacity: usualBytes)
        begin(id: id, &writer)
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

    /// The size of most responses, at most.
    private static let usualBytes = 192

    private static func begin(id: RequestID?, _ writer: inout JSONWriter) {
        writer.write(raw: #"{"jsonrpc":"2.0","id":"#)
        writer.write(id?.json ?? .null)
    }
}
