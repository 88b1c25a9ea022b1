import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

@Suite struct `A secret` {
    @Test func `is read where it lies, and compared`() throws {
        let secret = try Secret(exposed: "hunter2")
        let again = try Secret(Array("hunter2".utf8))
        let sum = secret.withBytes { bytes in
            (0..<bytes.byteCount).reduce(0) { $0 + Int(bytes.unsafeLoad(fromByteOffset: $1, as: UInt8.self)) }
        }
        #expect(sum == "hunter2".utf8.reduce(0) { $0 + Int($1) })
        #expect(secret.count == 7)
        #expect(secret.isEqual(to: again))
        #expect(try !secret.isEqual(to: Secret(exposed: "hunter3")))
        #expect(try !secret.isEqual(to: Secret(exposed: "")))
        #expect(try Secret(exposed: "").isEqual(to: Secret([])))
        #expect(secret.exposeText() == "hunter2")
        #expect(secret.exposeBytes() == Array("hunter2".utf8))
        #expect(try Secret([0xFF]).exposeText() == nil)
    }

    @Test func `is written where it lies, as much as was written`() throws {
        let secret = try Secret(capacity: 100) { span in
            for byte in "abc".utf8 { span.append(byte) }
        }
        #expect(secret.exposeText() == "abc")
        let error = #expect(throws: CofferError.self) {
            try Secret(capacity: 100) { (_) throws(CofferError) in throw CofferError(.io, "no more") }
        }
        #expect(error?.message == "no more")
    }

    @Test func `shows nothing of itself`() throws {
        let secret = try Secret(exposed: "hunter2")
        var texts = [String(describing: secret), String(reflecting: secret), "\([secret])", "\(secret.customMirror)"]
        var dumped = ""
        dump((secret, [secret]), to: &dumped)
        texts.append(dumped)
        for text in texts {
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("104"), "the first byte")
        }
    }

    @Test func `goes when its owner lets go, whatever a client has done with it`() async throws {
        let server = try TestServer()
        try await CofferClient.withConnection(to: server.directory.appending("socket")) { client in
            try await client.makeVault()
            let name = try ItemName("a")
            weak var stored: Secret?
            weak var fetched: Secret?
            do {
                let secret = try Secret(exposed: "hunter2")
                stored = secret
                try await client.put(name, secret)
                let content = try await client.get(name)
                fetched = content
                #expect(content.isEqual(to: secret))
            }
            let isGone = stored == nil && fetched == nil
            #expect(isGone)
        }
        withExtendedLifetime(server) {}
    }
}
