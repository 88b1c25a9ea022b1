import CofferCore
import CofferWire
import Testing

private func requestError(_ json: String) throws -> RequestError? {
    let value = try parse(json)
    do throws(RequestError) {
        _ = try Request(value)
        return nil
    } catch {
        return error
    }
}

@Suite struct RequestTests {
    @Test(arguments: [
        Request(id: .integer(1), method: "item.read", params: ["name": "a"]),
        Request(id: .integer(.min), method: ""),
        Request(id: .string(""), method: "é\n"),
        Request(id: .string(String(repeating: "x", count: 64)), method: "m", params: ["a": [1, .null, ["b": false]]]),
        Request(id: nil, method: "note"),
    ])
    func `a request is read as it was written`(_ request: Request) throws {
        #expect(try Request(parse(request.serialized())) == request)
    }

    @Test func `a request is written in one way`() {
        let request = Request(id: .string("a\""), method: "m", params: ["k": 1])
        #expect(text(request.serialized()) == #"{"jsonrpc":"2.0","id":"a\"","method":"m","params":{"k":1}}"#)
    }

    @Test func `absent parameters are none, and unknown members are ignored`() throws {
        let request = try Request(parse(#"{"future":[1],"method":"m","id":7,"jsonrpc":"2.0"}"#))
        #expect(request == Request(id: .integer(7), method: "m"))
    }

    @Test(arguments: [
        ("[]", "the request is not an object"),
        ("\"x\"", "the request is not an object"),
        (#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "the request is not an object"),
        (
            #"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            "expected 'id' to be a whole number, or a string of at most 64 bytes"
        ),
        (
            #"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
            "expected 'id' to be a whole number, or a string of at most 64 bytes"
        ),
        (
            #"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
            "expected 'id' to be a whole number, or a string of at most 64 bytes"
        ),
        (
            #"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
            "expected 'id' to be a whole number, or a string of at most 64 bytes"
        ),
        (
            #"{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}"#,
            "expected 'id' to be a whole number, or a string of at most 64 bytes"
        ),
    ])
    func `a request without a usable identifier is answered under null`(_ json: String, _ message: String) throws {
        let error = try #require(try requestError(json))
        #expect(error.id == nil && error.code == -32600 && error.error.message == message)
        #expect(text(error.responseBytes).hasPrefix(#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"#))
    }

    @Test(arguments: [
        (#"{"id":5,"method":"m"}"#, "expected 'jsonrpc' to be '2.0'"),
        (#"{"jsonrpc":2.0,"id":5,"method":"m"}"#, "expected 'jsonrpc' to be '2.0'"),
        (#"{"jsonrpc":"1.0","id":5,"method":"m"}"#, "expected 'jsonrpc' to be '2.0'"),
        (#"{"jsonrpc":"2.0","id":5}"#, "expected 'method' to be a string"),
        (#"{"jsonrpc":"2.0","id":5,"method":1}"#, "expected 'method' to be a string"),
        (#"{"jsonrpc":"2.0","id":5,"method":"m","params":[1]}"#, "expected 'params' to be an object"),
        (#"{"jsonrpc":"2.0","id":5,"method":"m","params":null}"#, "expected 'params' to be an object"),
    ])
    func `any other fault is answered under the identifier`(_ json: String, _ message: String) throws {
        let error = try #require(try requestError(json))
        #expect(error.id == .integer(5) && error.code == -32600 && error.error.message == message)
        #expect(error.error.code == .param)
    }

    @Test(arguments: [(63, true), (64, true), (65, false)])
    func `an identifier has at most 64 bytes`(_ count: Int, _ isTaken: Bool) throws {
        let id = String(repeating: "x", count: count)
        #expect(try (requestError(#"{"jsonrpc":"2.0","id":"\#(id)","method":"m"}"#) == nil) == isTaken)
    }

    @Test func `the bytes of an identifier count, not its characters`() throws {
        let id = String(repeating: "é", count: 33)
        #expect(try requestError(#"{"jsonrpc":"2.0","id":"\#(id)","method":"m"}"#) != nil)
    }

    @Test func `text that is no JSON is answered as a parse error`() throws {
        let error = RequestError(JSONError(offset: 3, reason: .badEscape))
        #expect(
            text(error.responseBytes)
                == #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"malformed JSON at byte 3: unknown escape"#
                + #" sequence","data":{"code":"param","osStatus":-50,"retry":"never"}}}"#
        )
    }
}

@Suite struct ResponseTests {
    private func incoming(_ bytes: [UInt8]) throws -> Incoming { try Incoming(parse(bytes)) }

    /// The error that arrives when `error` was sent.
    private func sent(_ error: CofferError) throws -> CofferError? {
        guard
            case .response(.integer(3), .failure(let received)) =
                try incoming(Response.failureBytes(id: .integer(3), error: error))
        else { return nil }
        return received
    }

    @Test(arguments: [.null, true, 7, "x", [], ["a": [.number(1)]]] as [JSONValue])
    func `a result arrives as it was sent`(_ result: JSONValue) throws {
        for id: RequestID in [.integer(-1), .string("é\"")] {
            guard case .response(id, .success(result)) = try incoming(Response.successBytes(id: id, result: result))
            else {
                Issue.record("something else arrived")
                return
            }
        }
    }

    @Test func `an error is written in one way`() {
        let error = CofferError.locked("'a'", in: .locked, for: .write)
        #expect(
            text(Response.failureBytes(id: .string("7"), error: error))
                == #"{"jsonrpc":"2.0","id":"7","error":{"code":-25308,"message":"can't write 'a': the vault is locked","#
                + #""data":{"code":"interactionNotAllowed","osStatus":-25308,"cocoaCode":513,"retry":"afterUnlock","#
                + #""hint":"run 'coffer unlock' and repeat the command"}}}"#
        )
    }

    @Test(arguments: ErrorCode.table.map(\.code) + [ErrorCode(rawValue: "fromTheFuture"), ErrorCode(rawValue: "")])
    func `every part of an error survives the way`(_ code: ErrorCode) throws {
        for retry: CofferError.Retry in [.never, .afterUnlock, .afterDelay(seconds: 0), .afterDelay(seconds: 3600)] {
            for (hint, cocoaCode) in [(nil, nil), ("do \"this\"\n", 260), ("", -1)] as [(String?, Int?)] {
                let error = CofferError(
                    code: code,
                    message: "é 'x'\u{1}",
                    hint: hint,
                    retry: retry,
                    cocoaCode: cocoaCode
                )
                let received = try #require(try sent(error))
                #expect(received.code == code && received.message == error.message && received.hint == hint)
                #expect(received.retry == retry && received.cocoaCode == cocoaCode)
            }
        }
    }

    @Test(arguments: ErrorCode.table.map(\.code) + [ErrorCode(rawValue: "fromTheFuture")])
    func `the number of an error is its OSStatus, unless JSON-RPC defines one`(_ code: ErrorCode) throws {
        let message = try parse(Response.failureBytes(id: nil, error: CofferError(code, "x")))
        let error = try #require(message.objectValue?["error"]?.objectValue)
        let expected =
            switch code {
            case .param: -32602
            case .unimplemented: -32601
            default: code.osStatus
            }
        #expect(error["code"] == .integer(Int64(expected)))
        #expect(error["data"]?.objectValue?["osStatus"] == .integer(Int64(code.osStatus)))
    }

    @Test(arguments: [
        (#"{"code":-32700,"message":"m"}"#, ErrorCode.param),
        (#"{"code":-32600}"#, .param),
        (#"{"code":-32602,"data":[]}"#, .param),
        (#"{"code":-32601,"data":{"code":5}}"#, .unimplemented),
        (#"{"code":-25300}"#, .itemNotFound),
        (#"{"code":99}"#, .internal),
        (#"{"code":"x"}"#, .internal),
        ("{}", .internal),
        (#"{"code":-25300,"data":{"code":"newWord"}}"#, ErrorCode(rawValue: "newWord")),
    ])
    func `an error of another peer is understood as far as it goes`(_ json: String, _ code: ErrorCode) throws {
        let bytes = Array(#"{"jsonrpc":"2.0","id":null,"error":\#(json)}"#.utf8)
        guard case .response(nil, .failure(let error)) = try incoming(bytes) else {
            Issue.record("something else arrived")
            return
        }
        #expect(error.code == code && error.retry == .never && error.hint == nil && !error.message.isEmpty)
    }

    @Test(arguments: [
        #"{"retry":"afterDelay"}"#, #"{"retry":"afterDelay","retryAfter":-1}"#,
        #"{"retry":"afterDelay","retryAfter":1.5}"#,
        #"{"retry":"someday"}"#, #"{"retry":1}"#,
    ])
    func `a promise that is not understood is none`(_ data: String) throws {
        let bytes = Array(#"{"jsonrpc":"2.0","id":1,"error":{"data":\#(data)}}"#.utf8)
        guard case .response(_, .failure(let error)) = try incoming(bytes) else {
            Issue.record("something else arrived")
            return
        }
        #expect(error.retry == .never)
    }

    @Test func `a notification arrives as it was sent`() throws {
        let bytes = Response.notificationBytes(method: "state", params: ["state": "locked"])
        #expect(text(bytes) == #"{"jsonrpc":"2.0","method":"state","params":{"state":"locked"}}"#)
        guard case .notification("state", ["state": "locked"]) = try incoming(bytes) else {
            Issue.record("something else arrived")
            return
        }
    }

    @Test(arguments: [
        "[]", "1", "{}", #"{"jsonrpc":"2.0"}"#, #"{"jsonrpc":"1.0","id":1,"result":1}"#, #"{"id":1,"result":1}"#,
        #"{"jsonrpc":"2.0","id":1}"#, #"{"jsonrpc":"2.0","result":1}"#, #"{"jsonrpc":"2.0","id":1.5,"result":1}"#,
        #"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, #"{"jsonrpc":"2.0","id":1,"error":"x"}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"m"}"#, #"{"jsonrpc":"2.0","method":1}"#,
        #"{"jsonrpc":"2.0","method":"m","params":[]}"#,
    ])
    func `what is neither a response nor a notification is refused`(_ json: String) throws {
        let value = try parse(json)
        let error = #expect(throws: CofferError.self) { try Incoming(value) }
        #expect(error?.code == .protocolViolation)
        #expect(error?.message.hasPrefix("the daemon sent a message that makes no sense: ") == true)
    }
}
