package import CofferCore

/// Writes what the daemon sends.
package enum Response {
    /// The answer to a request that was carried out.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request.
    ///   - result: What came of it.
    /// - Returns: The JSON.
    package static func successBytes(id: RequestID, result: JSONValue) -> [UInt8] {
        var writer = beginning(id: id)
        writer.write(raw: #","result":"#)
        writer.write(result)
        writer.write(raw: "}")
        return writer.bytes
    }

    /// The answer to a request that failed.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request; `nil`, which becomes `null`, where it could not be read.
    ///   - error: Why it failed.
    ///   - rpcCode: The JSON-RPC code; `nil` for the one that follows from the error.
    /// - Returns: The JSON.
    package static func failureBytes(id: RequestID?, error: CofferError, rpcCode: Int? = nil) -> [UInt8] {
        var writer = beginning(id: id)
        writer.write(raw: #","error":"#)
        writer.write(error.json(rpcCode: rpcCode))
        writer.write(raw: "}")
        return writer.bytes
    }

    /// News that nobody asked for at this moment.
    ///
    /// - Parameters:
    ///   - method: What kind of news.
    ///   - params: The news.
    /// - Returns: The JSON.
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
