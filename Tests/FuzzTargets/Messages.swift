import CofferCore
import CofferWire

/// JSON is read as RFC 8259 has it and comes back from its text the same, and so does every message and its parameters.
func checkMessage(_ input: [UInt8]) throws(FuzzFinding) {
    let value: JSONValue
    switch parse(input) {
    case .failure(let error):
        try require((0...input.count).contains(error.offset), "an error at \(error.offset) of \(input.count) bytes")
        try require(error.isBeyondGrammar || !JSONGrammar.accepts(input), "JSON is refused: \(error.message)")
        return
    case .success(let parsed): value = parsed
    }
    try require(JSONGrammar.accepts(input), "what is no JSON is taken for some")
    let text = text(of: value)
    try require(parse(text) == .success(value), "a value is another one when it was written and read")
    try checkRequest(value)
    try checkIncoming(value)
}

extension JSONError {
    /// Whether it is about what the RFC leaves to the reader.
    fileprivate var isBeyondGrammar: Bool {
        switch reason {
        case .duplicateKey, .tooDeep, .loneSurrogate, .numberOutOfRange: true
        default: false
        }
    }
}

private func text(of value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    writer.write(value)
    return writer.bytes
}

private func checkRequest(_ value: JSONValue) throws(FuzzFinding) {
    guard let request = ifAccepted({ () throws(RequestError) in try Request(value) }) else { return }
    let text = request.serialized()
    guard case .success(let again) = parse(text),
        let same = ifAccepted({ () throws(RequestError) in try Request(again) })
    else { throw FuzzFinding(description: "a request can't be read when it was written") }
    try require(same.id == request.id && same.params == request.params, "a request is another one")
    try require(Array(same.method.utf8) == Array(request.method.utf8), "a request has another method")
    guard let method = Method(rawValue: request.method) else { return }
    try checkParameters(of: method.parameters, request.params)
}

private func checkParameters(of type: any WireObject.Type, _ params: JSONObject) throws(FuzzFinding) {
    guard let parameters = ifAccepted({ () throws(CofferError) in try type.init(params: params) }) else { return }
    let json = parameters.json
    do throws(CofferError) {
        let again = try type.init(params: json).json
        guard again == json else { throw CofferError(.internal, "they are others") }
    } catch {
        throw FuzzFinding(description: "\(type) that were written: \(error.message)")
    }
}

private func checkIncoming(_ value: JSONValue) throws(FuzzFinding) {
    guard let incoming = ifAccepted({ () throws(CofferError) in try Incoming(value) }) else { return }
    let text =
        switch incoming {
        case .notification(let method, let params): Response.notificationBytes(method: method, params: params)
        case .response(let id?, .success(let result)): Response.successBytes(id: id, result: result)
        case .response(_, .success): [] as [UInt8]
        case .response(let id, .failure(let error)): Response.failureBytes(id: id, error: error)
        }
    if text.isEmpty { return }
    guard case .success(let again) = parse(text),
        let same = ifAccepted({ () throws(CofferError) in try Incoming(again) })
    else { throw FuzzFinding(description: "a message of the daemon can't be read when it was written") }
    switch (incoming, same) {
    case (.notification(let one, let params), .notification(let other, let otherParams)):
        try require(Array(one.utf8) == Array(other.utf8) && params == otherParams, "news are others")
    case (.response(let one, .success(let result)), .response(let other, .success(let otherResult))):
        try require(one == other && result == otherResult, "an answer is another one")
    case (.response(let one, .failure(let error)), .response(let other, .failure(let otherError))):
        try require(one == other && error.code == otherError.code, "a refusal is another one")
    default:
        throw FuzzFinding(description: "a message of the daemon is of another kind")
    }
}
