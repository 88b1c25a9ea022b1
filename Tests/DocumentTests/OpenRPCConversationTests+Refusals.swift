import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

extension OpenRPCConversationTests {
    /// What no request may be.
    func refuse(_ talk: Conversation) throws {
        let wantPayload: [Method] = [.contextAuthenticate, .passcodeChange, .passcodeRemove, .slotTest, .vaultUnlock]
        for method in wantPayload { try talk.fail(.param, method, try talk.rpc.leastParameters(of: method)) }
        let other = try FileHandle(forReadingFrom: URL(filePath: "/dev/null"))
        for method in Method.allCases where method != .vaultInit && method != .passcodeSet {
            let described = try talk.rpc.method(method.rawValue)
            let params = try talk.rpc.leastParameters(of: method)
            let taken = described["x-payload"]?.objectValue?["in"]?.objectValue
            var unknown = params
            unknown.set("nobodyKnowsThis", true)
            try talk.fail(.param, method, unknown, payload: taken?["required"] == true ? Self.passcode : [])
            if taken == nil { try talk.fail(.param, method, params, payload: [1]) }
            if let limit = taken?["maximum"]?.integerValue, limit < Int64(Limits.framePayloadBytes) {
                let isBounded = [.fileSetExtendedAttribute, .keychainAdd, .keychainUpdate].contains(method)
                let payload = [UInt8](repeating: 1, count: Int(limit) + 1)
                try talk.fail(isBounded ? .dataTooLarge : .param, method, Self.exact(method, params), payload: payload)
            }
            if described["x-descriptor"] == nil {
                let payload = taken?["required"] == true ? Self.passcode : []
                try talk.fail(.param, method, params, payload: payload, passing: other.fileDescriptor)
            }
        }
        for (text, code) in [("{", -32700), ("[]", -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600)] {
            let bytes = Array(text.utf8)
            let frame = FrameHeader.encode(jsonCount: bytes.count, payloadCount: 0) + bytes
            let answer = try talk.exchange(frame)
            #expect(try talk.rpc.faults(ofMessage: answer, "Response") == [])
            #expect(answer.objectValue?["error"]?.objectValue?["code"] == .integer(Int64(code)))
        }
    }

    /// Parameters that leave nothing but the payload to be refused.
    private static func exact(_ method: Method, _ params: JSONObject) -> JSONObject {
        switch method {
        case .keychainAdd: ["class": "genericPassword", "attributes": ["account": "long"]]
        case .keychainUpdate: ["class": "genericPassword", "attributes": ["account": "short"]]
        default: params
        }
    }
}
