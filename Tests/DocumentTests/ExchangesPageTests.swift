import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `proto-docs/EXCHANGES.md`, said to the daemon once more.
@Suite struct ExchangesPageTests {
    /// A frame of the page.
    private struct Frame {
        let isRequest: Bool
        var header: [UInt8]
        var json = ""
        var payload: [UInt8] = []
        var passesDescriptor = false

        var bytes: [UInt8] { header + Array(json.utf8) + payload }

        /// Without what is different each time.
        func masked(of method: String) -> Frame {
            var frame = self
            frame.json = json.replacing(/[0-9a-f]{32}/, with: "identifier").replacing(/\b1[0-9]{12}\b/, with: "date")
                .replacing(/"publicKey":"[^"]{44}"/, with: "publicKey").replacing(/"seconds":[0-9]+/, with: "seconds")
            let isRandom = ["vault.init", "slot.add", "keychain.sign", "keychain.agree", "backup.sign"].contains(method)
            if isRandom && !isRequest { frame.payload = Array(repeating: 0, count: payload.count) }
            if !isRequest && (json.contains("\"inode\":") || method == "file.space") {
                // Numbers have few digits or many.
                frame.json = frame.json.replacing(/"(inode|totalBytes|freeBytes|availableBytes)":\d+/, with: "number")
                    .replacing(/\b1[0-9]{18}\b/, with: "time")
                frame.header = []
            }
            if ["backup.begin", "backup.read"].contains(method) && !isRequest {
                frame.json = frame.json.replacing(/"(keybag|anchor|catalog|leftBehind|size)":\d+/, with: "number")
                frame.header = []
            }
            if method == "file.list" && !isRequest {
                // The order of the catalog is that of random numbers.
                frame.json = frame.json.split { "{}".contains($0) }.sorted().joined(separator: "\n")
            }
            if method == "entitlement.explain" && !isRequest {
                // Users have numbers of few digits or of many.
                frame.json = frame.json.replacing(/"[ug]id":\d+/, with: "number")
                frame.header = []
            }
            return frame
        }
    }

    private let exchanges: [[Frame]]

    init() throws {
        exchanges = try Page("EXCHANGES.md").blocks("exchange").map { lines in
            var frames: [Frame] = []
            for line in lines {
                switch line.first {
                case ">", "<": frames.append(Frame(isRequest: line.first == ">", header: try Self.bytes(line)))
                case "=": frames[frames.count - 1].payload += try Self.bytes(line)
                case "+": frames[frames.count - 1].passesDescriptor = true
                default: frames[frames.count - 1].json = String(line)
                }
            }
            return frames
        }
    }

    private static func bytes(_ line: some StringProtocol) throws -> [UInt8] {
        try line.dropFirst().split(separator: " ").map { try #require(UInt8($0, radix: 16)) }
    }

    private static func method(_ exchange: [Frame]) throws -> String {
        let request = Array(try #require(exchange.first).json.utf8)
        let message = try JSONValue(parsing: request.span.bytes)
        return try #require(message.objectValue?["method"]?.stringValue)
    }

    @Test func `every method has its exchange under its name`() throws {
        let methods = try exchanges.map(Self.method)
        #expect(Set(methods) == Set(Method.allCases.map(\.rawValue)))
        let headings = try Page("EXCHANGES.md").headings(level: 2).flatMap(\.quotedWords)
        var first: [String] = []
        for method in methods where !first.contains(method) { first.append(method) }
        #expect(headings == first)
    }

    @Test func `every method is carried out, and every message is as the document has it`() throws {
        let rpc = try OpenRPC()
        var carriedOut: Set<String> = []
        for exchange in exchanges {
            var methods: [String: JSONObject] = [:]
            for frame in exchange {
                let message = try JSONValue(parsing: Array(frame.json.utf8).span.bytes)
                try OpenRPCExamplesTests.check(message, rpc, &methods, "EXCHANGES.md")
                if message.objectValue?["result"] != nil { carriedOut.insert(try Self.method(exchange)) }
            }
        }
        // A mount needs a device that not every machine has; MountTests make many.
        #expect(carriedOut == Set(Method.allCases.map(\.rawValue)).subtracting([Method.mountServe.rawValue]))
    }

    @Test func `the requests are numbered in their order`() throws {
        let requests = exchanges.joined().filter(\.isRequest)
        for (index, request) in requests.enumerated() {
            #expect(request.json.hasPrefix("{\"jsonrpc\":\"2.0\",\"id\":\(index + 1),"), "\(request.json)")
        }
    }

    @Test func `the headers count the bytes of the page`() {
        for frame in exchanges.joined() {
            let header = FrameHeader.encode(jsonCount: frame.json.utf8.count, payloadCount: frame.payload.count)
            #expect(frame.header == header, "\(frame.json)")
        }
    }

    @Test func `the conversation of the page happens, frame by frame`() throws {
        let daemon = try ExampleDaemon()
        let socket = try UnixSocket.connect(to: daemon.socket)
        let output = try FileHandle(forWritingTo: URL(filePath: "/dev/null"))
        let ends = try UnixSocket.pair()
        for exchange in exchanges {
            let method = try Self.method(exchange)
            for frame in exchange {
                guard frame.isRequest else {
                    let found = try Self.receive(from: socket).masked(of: method)
                    let expected = frame.masked(of: method)
                    #expect(found.json == expected.json)
                    #expect(found.header == expected.header, "\(method)")
                    #expect(found.payload == expected.payload, "\(method)")
                    continue
                }
                let sent = try socket.send(
                    frame.bytes.span.bytes,
                    passing: !frame.passesDescriptor
                        ? nil : method == "backup.read" ? ends.server.number : output.fileDescriptor
                )
                try #require(sent == frame.bytes.count)
            }
        }
    }

    private static func receive(from socket: borrowing OwnedDescriptor) throws -> Frame {
        var frame = Frame(isRequest: false, header: try socket.readExactly(8))
        let counts = frame.header.map(Int.init)
        let jsonCount = counts[0] << 24 | counts[1] << 16 | counts[2] << 8 | counts[3]
        frame.json = String(decoding: try socket.readExactly(jsonCount), as: UTF8.self)
        frame.payload = try socket.readExactly(counts[4] << 24 | counts[5] << 16 | counts[6] << 8 | counts[7])
        return frame
    }
}
