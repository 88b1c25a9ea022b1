import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A client whose daemon has already sent its answers.
private func makeClient(answers: [UInt8], closes: Bool = false) throws -> (client: BlockingClient, daemon: Int32) {
    try UnixSocket.pair().split { server, client in
        try #require(write(server.number, answers, answers.count) == answers.count)
        let connected = try BlockingClient(socket: client)
        if closes { shutdown(server.number, Int32(SHUT_WR)) }
        return (connected, server.release())
    }
}

private func frame(_ json: [UInt8], _ payload: String = "") -> [UInt8] {
    FrameHeader.encode(jsonCount: json.count, payloadCount: payload.utf8.count) + json + Array(payload.utf8)
}

private func frame(_ json: String) -> [UInt8] { frame(Array(json.utf8)) }

private let status: JSONValue = ["state": "locked", "version": "1", "protocol": 1]

private func success(_ id: Int64 = 1, _ payload: String = "") -> [UInt8] {
    frame(Response.successBytes(id: .integer(id), result: status), payload)
}

/// The error of a call; `nil` if it returns a result.
private func failure(_ answers: [UInt8], closes: Bool = true) throws -> CofferError? {
    let (client, daemon) = try makeClient(answers: answers, closes: closes)
    defer { close(daemon) }
    do throws(CofferError) {
        _ = try client.call(.vaultStatus, Empty(), returning: VaultStatus.self)
        return nil
    } catch {
        return error
    }
}

@Suite struct `A call` {
    init() { signal(SIGPIPE, SIG_IGN) }

    @Test func `sends what the protocol says, and brings back the answer`() throws {
        let (client, daemon) = try makeClient(answers: success(1, "payload") + success(2))
        defer { close(daemon) }
        let payload: SecretBytes? = try SecretBytes(copying: Array("secret".utf8).span.bytes)
        let returned = try client.call(
            .itemPut,
            ItemShowParameters(name: try ItemName("a/b")),
            payload: payload,
            returning: VaultStatus.self
        )
        #expect(returned.value.state == .locked)
        let content = returned.takePayload()?.exposeBytes()
        #expect(content == Array("payload".utf8))
        let again = try client.call(.vaultStatus, Empty(), returning: VaultStatus.self)
        let isEmpty = again.takePayload() == nil
        #expect(isEmpty)

        var buffer = [UInt8](repeating: 0, count: 1000)
        let count = read(daemon, &buffer, buffer.count)
        let first = Request(id: .integer(1), method: "item.put", params: ["name": "a/b"]).serialized()
        let second = Request(id: .integer(2), method: "vault.status").serialized()
        #expect(Array(buffer[..<max(0, count)]) == frame(first, "secret") + frame(second))
    }

    @Test func `takes an answer in whatever pieces it comes`() throws {
        let (client, daemon) = try makeClient(answers: [])
        defer { close(daemon) }
        let answer = success(1, String(repeating: "p", count: 100_000))
        let writer = Thread {
            for start in stride(from: 0, to: answer.count, by: 777) {
                let piece = Array(answer[start..<min(start + 777, answer.count)])
                var done = 0
                while done < piece.count {
                    let count = piece.withUnsafeBytes {
                        write(daemon, $0.baseAddress.map { $0 + done }, $0.count - done)
                    }
                    done += max(0, count)
                }
            }
        }
        writer.start()
        let returned = try client.call(.vaultStatus, Empty(), returning: VaultStatus.self)
        let content = returned.takePayload()?.exposeBytes()
        #expect(content?.count == 100_000)
        #expect(content?.allSatisfy { $0 == UInt8(ascii: "p") } == true)
    }

    @Test func `hears news before its answer, and passes over what it does not know`() throws {
        let answers =
            frame(Response.notificationBytes(method: "progress", params: ["id": 1, "done": 5, "total": 10]))
            + frame(Response.notificationBytes(method: "newsOfALaterVersion", params: [:]))
            + frame(Response.notificationBytes(method: "progress", params: ["id": 1, "done": "much"]))
            + frame(Response.notificationBytes(method: "progress", params: ["id": 7, "done": 8]))
            + frame(Response.notificationBytes(method: "progress", params: ["id": 1, "done": 9]))
            + success()
        let (client, daemon) = try makeClient(answers: answers)
        defer { close(daemon) }
        var reports: [String] = []
        let returned = try client.call(
            .vaultStatus,
            Empty(),
            returning: VaultStatus.self,
            progress: { done, total in reports.append("\(done) of \(total.map(String.init) ?? "?")") }
        )
        #expect(returned.value.state == .locked)
        #expect(reports == ["5 of 10", "9 of ?"])
    }

    @Test func `fails with the daemon's own error, every part of it`() throws {
        let error = CofferError.locked("'a'", in: .locked, for: .write)
        let found = try #require(try failure(frame(Response.failureBytes(id: .integer(1), error: error))))
        #expect(found.code == error.code)
        #expect(found.message == error.message)
        #expect(found.hint == error.hint)
        #expect(found.retry == .afterUnlock)
        #expect(found.cocoaCode == 513)
        let later = CofferError(
            ErrorCode(rawValue: "aCodeOfALaterVersion"),
            "the words",
            retry: .afterDelay(seconds: 60)
        )
        let unknown = try #require(try failure(frame(Response.failureBytes(id: .integer(1), error: later))))
        #expect(unknown.code.rawValue == "aCodeOfALaterVersion")
        #expect(unknown.message == "the words")
        #expect(unknown.retry == .afterDelay(seconds: 60))
    }

    @Test func `fails with the error of a daemon that could not read it`() throws {
        let error = CofferError(.protocolViolation, "no object")
        #expect(try failure(frame(Response.failureBytes(id: nil, error: error)))?.message == "no object")
    }

    @Test func `fails when the daemon is gone, before or within its answer`() throws {
        for count in [0, 1, 7, 8, 20, success().count - 1] {
            #expect(try failure(Array(success().prefix(count)))?.code == .notAvailable, "\(count) bytes")
        }
        #expect(try failure(success()) == nil)
    }

    @Test(
        arguments: [
            Array(repeating: 0xFF, count: 16), frame("{"), frame("[]"), frame("{}"), frame(#""text""#),
            frame(#"{"jsonrpc":"2.0","id":1}"#), frame(#"{"jsonrpc":"2.0","id":1,"result":[]}"#),
        ]
    )
    func `fails where the answer is none`(answer: [UInt8]) throws {
        #expect(try failure(answer)?.code == .protocolViolation)
    }

    @Test(
        arguments: [
            #"{}"#, #"{"state":7,"version":"1","protocol":1}"#,
            #"{"state":"aStateOfALaterVersion","version":"1","protocol":1}"#,
        ]
    )
    func `fails with the daemon to blame where the answer lacks what it has to have`(result: String) throws {
        let found = try failure(frame("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\(result)}"))
        #expect(found?.code == .protocolViolation)
    }

    @Test func `fails where memory for the payload can't be locked, and does not blame the daemon`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 128 << 10, rlim_max: 128 << 10)
            try #require(setrlimit(Int32(__RLIMIT_MEMLOCK.rawValue), &limit) == 0)
            // The superuser may lock any amount of memory; user nobody may not.
            if geteuid() == 0 { try #require(setuid(65534) == 0) }
            let found = try failure(success(1, String(repeating: "x", count: 100_000)), closes: false)
            #expect(found == .noSecretMemory)
            #expect(found?.message == CofferError.noSecretMemory.message)
        }
    }

    @Test func `fails where nobody listens, and says how to change that`() throws {
        do throws(CofferError) {
            _ = try BlockingClient(socketPath: "/nonexistent/coffer.sock")
            Issue.record("nobody listens there")
        } catch {
            #expect(error.code == .notAvailable)
            #expect(
                error.message == "can't reach the daemon at '/nonexistent/coffer.sock': no such file or directory"
            )
            #expect(error.hint != nil)
        }
    }
}
