internal import CofferCore

/// The codes that JSON-RPC 2.0 reserves.
///
/// Every other error has its `OSStatus` as its code.
package enum RPCCode {
    /// The text is not JSON.
    package static let parseError = -32700
    /// The JSON is not a request.
    package static let invalidRequest = -32600
    /// The method is unknown.
    package static let methodNotFound = -32601
    /// The parameters are not valid for the method.
    package static let invalidParams = -32602
}

extension CofferError {
    /// The JSON-RPC code of the error itself.
    private var rpcCode: Int {
        switch code {
        case .unimplemented: RPCCode.methodNotFound
        case .param: RPCCode.invalidParams
        default: code.osStatus
        }
    }

    /// The error for programs: code, message, what to do now, and whether trying again helps.
    package var json: JSONObject {
        var members: JSONObject = ["message": .string(message)]
        members.append(data)
        return ["error": .object(members)]
    }

    /// The `error` member of a response.
    ///
    /// - Parameter rpcCode: The JSON-RPC code; `nil` for that of the error itself.
    func json(rpcCode: Int?) -> JSONObject {
        [
            "code": .integer(Int64(rpcCode ?? self.rpcCode)),
            "message": .string(message),
            "data": .object(data),
        ]
    }

    private var data: JSONObject {
        var data: JSONObject = ["code": .string(code.rawValue), "osStatus": .integer(Int64(code.osStatus))]
        data.append("cocoaCode", cocoaCode)
        switch retry {
        case .afterUnlock: data.append("retry", "afterUnlock")
        case .later: data.append("retry", "later")
        case .never: data.append("retry", "never")
        case .afterDelay(let seconds):
            data.append("retry", "afterDelay")
            data.append("retryAfter", seconds)
        }
        data.append("need", need)
        data.append("reason", reason)
        data.append("hint", hint)
        return data
    }

    /// Parses the `error` member of a response, even if parts are missing: an error must not be lost because of its
    /// details.
    init(json: JSONObject) {
        let data = json["data"]?.objectValue ?? [:]
        self.init(
            code: data["code"]?.stringValue.map(ErrorCode.init(rawValue:)) ?? Self.code(forRPC: json["code"]),
            message: json["message"]?.stringValue ?? "the daemon gave no reason",
            hint: data["hint"]?.stringValue,
            retry: Self.retry(in: data),
            cocoaCode: data["cocoaCode"]?.integerValue.flatMap(Int.init(exactly:)),
            need: data["need"]?.stringValue.flatMap(AuthenticationNeed.init(rawValue:)),
            reason: data["reason"]?.stringValue.flatMap(ErrorReason.init(rawValue:))
        )
    }

    /// The code of an error without a name, from a peer that knows JSON-RPC only.
    private static func code(forRPC value: JSONValue?) -> ErrorCode {
        switch value?.integerValue.flatMap(Int.init(exactly:)) {
        case RPCCode.parseError, RPCCode.invalidRequest, RPCCode.invalidParams: .param
        case RPCCode.methodNotFound: .unimplemented
        case let number: ErrorCode.table.first { $0.osStatus == number }?.code ?? .internal
        }
    }

    private static func retry(in data: JSONObject) -> Retry {
        switch (data["retry"]?.stringValue, data["retryAfter"]?.integerValue.flatMap(Int.init(exactly:))) {
        case ("afterUnlock", _): .afterUnlock
        case ("later", _): .later
        case ("afterDelay", let seconds?) where seconds >= 0: .afterDelay(seconds: seconds)
        // A word of a newer peer: a retry is not promised.
        default: .never
        }
    }
}
