import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A connection to the daemon that compares all it says and hears with `proto-docs/openrpc.json`.
final class Conversation {
    /// What the daemon answered.
    struct Answer {
        let result: JSONObject?
        let code: String?
        let payload: [UInt8]
    }

    let rpc: OpenRPC
    private let socket: OwnedDescriptor
    private var last: Int64 = 0
    /// The methods that were carried out, those that were refused, and the notifications that came.
    private(set) var done: Set<String> = []
    private(set) var refused: Set<String> = []
    private(set) var told: Set<String> = []

    init(to path: String, _ rpc: OpenRPC) throws {
        self.rpc = rpc
        socket = try UnixSocket.connect(to: path)
        // A reply that does not come is a failure, and not the end of the tests.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Makes a request that has to succeed.
    @discardableResult func succeed(
        _ method: Method,
        _ params: JSONObject = [:],
        payload: [UInt8] = [],
        passing descriptor: Int32? = nil,
        at place: SourceLocation = #_sourceLocation
    ) throws -> Answer {
        let answer = try call(method, params, payload, descriptor, place)
        #expect(answer.result != nil, "\(method): \(answer.code ?? "")", sourceLocation: place)
        return answer
    }

    /// Makes a request that has to fail with an error.
    ///
    /// The document must predict every `param`, unless only the daemon can know it.
    func fail(
        _ code: ErrorCode,
        _ method: Method,
        _ params: JSONObject = [:],
        payload: [UInt8] = [],
        passing descriptor: Int32? = nil,
        knownToDaemon: Bool = false,
        at place: SourceLocation = #_sourceLocation
    ) throws {
        let answer = try call(method, params, payload, descriptor, place)
        #expect(answer.code == code.rawValue, "\(method)", sourceLocation: place)
        guard code == .param else { return }
        let misfits = try misfits(of: params, payload, descriptor, try rpc.method(method.rawValue))
        #expect(misfits.isEmpty == knownToDaemon, "\(method): \(misfits)", sourceLocation: place)
    }

    private func call(
        _ method: Method,
        _ params: JSONObject,
        _ payload: [UInt8],
        _ descriptor: Int32?,
        _ place: SourceLocation
    ) throws -> Answer {
        let described = try rpc.method(method.rawValue)
        last += 1
        let request = Request(id: .integer(last), method: method.rawValue, params: params).serialized()
        let written = try JSONValue(parsing: request.span.bytes)
        #expect(try rpc.faults(ofMessage: written, "Request") == [], sourceLocation: place)
        let frame = FrameHeader.encode(jsonCount: request.count, payloadCount: payload.count) + request + payload
        let sent = try socket.send(frame.span.bytes, passing: descriptor) ?? 0
        try socket.write(all: frame.span.bytes.extracting(droppingFirst: sent))
        let misfits = try misfits(of: params, payload, descriptor, described)
        let (reply, data) = try reply(place)
        #expect(reply["id"] == .integer(last), sourceLocation: place)
        if let error = reply["error"]?.objectValue {
            refused.insert(method.rawValue)
            return Answer(result: nil, code: try check(error, of: described, misfits, place), payload: data)
        }
        done.insert(method.rawValue)
        #expect(misfits == [], "the daemon takes what the document refuses", sourceLocation: place)
        let result = try #require(reply["result"])
        let expected = try #require(described["result"]?.objectValue?["schema"])
        #expect(try rpc.checker.faults(of: result, expected) == [], "\(method)", sourceLocation: place)
        let faults = Self.faults(of: data.count, described["x-payload"]?.objectValue?["out"])
        #expect(faults == [], "\(method)", sourceLocation: place)
        return Answer(result: result.objectValue, code: nil, payload: data)
    }

    /// Why the document refuses a request.
    private func misfits(
        of params: JSONObject,
        _ payload: [UInt8],
        _ descriptor: Int32?,
        _ method: JSONObject
    ) throws -> [String] {
        var faults = try rpc.faults(of: params, of: method) + rpc.faultsTogether(of: params, of: method)
        faults += Self.faults(of: payload.count, method["x-payload"]?.objectValue?["in"])
        let passing = method["x-descriptor"]?.objectValue
        if descriptor != nil && passing == nil { faults.append("a descriptor") }
        if descriptor == nil && passing?["required"] == true { faults.append("no descriptor") }
        return faults
    }

    private static func faults(of byteCount: Int, _ described: JSONValue?) -> [String] {
        guard let described = described?.objectValue else { return byteCount == 0 ? [] : ["a payload"] }
        if byteCount == 0 { return described["required"] == true ? ["no payload"] : [] }
        let range = (described["minimum"]?.integerValue ?? 0)...(described["maximum"]?.integerValue ?? 0)
        return range.contains(Int64(byteCount)) ? [] : ["\(byteCount) bytes of payload"]
    }

    private func check(
        _ error: JSONObject,
        of method: JSONObject,
        _ misfits: [String],
        _ place: SourceLocation
    ) throws -> String {
        let code = try #require(error["data"]?.objectValue?["code"]?.stringValue)
        let known = try #require(rpc["components", "errors", code]?.objectValue)
        #expect(error["code"] == known["code"], sourceLocation: place)
        #expect(
            error["data"]?.objectValue?["osStatus"] == known["data"]?.objectValue?["osStatus"],
            sourceLocation: place
        )
        if let cocoa = error["data"]?.objectValue?["cocoaCode"] {
            let codes = known["data"]?.objectValue?["x-cocoaCode"]?.objectValue?.members.map(\.value) ?? []
            #expect(codes.contains(cocoa), sourceLocation: place)
        }
        let listed = OpenRPC.errors(of: method)
        #expect(listed.contains(code), "\(method["name"] ?? ""): \(error)", sourceLocation: place)
        let isOfParameters = ["param", "dataTooLarge"].contains(code)
        #expect(misfits.isEmpty || isOfParameters, "\(misfits): \(code)", sourceLocation: place)
        return code
    }

    /// The next reply; what comes before it is news.
    private func reply(_ place: SourceLocation) throws -> (JSONObject, [UInt8]) {
        while true {
            let (message, data) = try receive()
            let object = try #require(message.objectValue)
            if let name = object["method"]?.stringValue {
                try hear(name, object["params"]?.objectValue ?? [:], place)
                continue
            }
            #expect(try rpc.faults(ofMessage: message, "Response") == [], sourceLocation: place)
            return (object, data)
        }
    }

    /// Waits until there was that news: it may have come before a reply already.
    func expectNews(_ name: String, at place: SourceLocation = #_sourceLocation) throws {
        while !told.contains(name) {
            let (message, _) = try receive()
            let params = message.objectValue?["params"]?.objectValue ?? [:]
            try hear(try #require(message.objectValue?["method"]?.stringValue), params, place)
        }
    }

    private func hear(_ name: String, _ params: JSONObject, _ place: SourceLocation) throws {
        told.insert(name)
        #expect(try rpc.faults(of: params, of: try rpc.notification(name)) == [], "\(name)", sourceLocation: place)
    }

    /// Sends a frame as it is, and takes the answer.
    func exchange(_ frame: [UInt8], at place: SourceLocation = #_sourceLocation) throws -> JSONValue {
        try socket.write(all: frame.span.bytes)
        return .object(try reply(place).0)
    }

    private func receive() throws -> (JSONValue, [UInt8]) {
        let header = try read(FrameHeader.byteCount)
        let counts = [0, 4].map { start in header[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) } }
        let text = try read(counts[0])
        return (try JSONValue(parsing: text.span.bytes), try read(counts[1]))
    }

    private func read(_ count: Int) throws -> [UInt8] { try socket.readExactly(count) }
}

extension OwnedDescriptor {
    /// Reads so many bytes.
    borrowing func readExactly(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let added = try bytes.withUnsafeMutableBytes { buffer in
                try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
            }
            try #require(added > 0)
            done += added
        }
        return bytes
    }
}
