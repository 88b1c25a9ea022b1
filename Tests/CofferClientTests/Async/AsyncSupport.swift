import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation

/// A daemon that treats each connection as the test says.
final class FakeDaemon: Sendable {
    let directory: TemporaryDirectory
    private let listener: Int32
    private let thread: DispatchSemaphore

    var socketPath: String { directory.appending("socket") }

    /// Starts the daemon.
    ///
    /// - Parameter script: One closure for each connection, called in turn on a thread; after the last one, the
    ///   socket closes.
    init(_ script: [@Sendable (Peer) throws -> Void]) throws {
        directory = try TemporaryDirectory()
        let socket = try UnixSocket.listen(at: directory.appending("socket"))
        let flags = fcntl(socket.number, F_GETFL)
        _ = fcntl(socket.number, F_SETFL, flags & ~O_NONBLOCK)
        let listener = socket.release()
        let done = DispatchSemaphore(value: 0)
        self.listener = listener
        thread = done
        Thread {
            for step in script {
                let number = accept(listener, nil, nil)
                if number < 0 { break }
                try? step(Peer(number))
            }
            close(listener)
            done.signal()
        }.start()
    }

    /// Waits until all closures have returned.
    func wait() { thread.wait() }

    /// The connection to the client.
    final class Peer {
        let number: Int32
        private var decoder = FrameDecoder()
        private var buffer = [UInt8](repeating: 0, count: 1 << 16)
        private var pending: ArraySlice<UInt8> = []

        init(_ number: Int32) { self.number = number }
        deinit { Foundation.close(number) }

        /// The next request; `nil` if the client has closed.
        func next() throws -> Request? {
            while true {
                let bytes = Array(pending)
                var offset = 0
                if let frame = try decoder.decode(bytes.span.bytes, at: &offset) {
                    pending = bytes[offset...]
                    return try Request(frame.json.get())
                }
                let count = read(number, &buffer, buffer.count)
                if count <= 0 { return nil }
                pending = buffer[..<count]
            }
        }

        /// Sends bytes as they are.
        func send(_ bytes: [UInt8]) {
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Foundation.send(number, $0.baseAddress.map { $0 + done }, $0.count - done, Int32(MSG_NOSIGNAL))
                }
                if count < 0 { return }
                done += count
            }
        }

        /// Answers a request.
        func answer(_ request: Request?, _ result: JSONValue = [:], _ payload: [UInt8] = []) {
            guard let id = request?.id else { return }
            send(wireFrame(Response.successBytes(id: id, result: result), payload))
        }

        /// Answers a request with an error.
        func refuse(_ request: Request?, _ error: CofferError) {
            guard let id = request?.id else { return }
            send(wireFrame(Response.failureBytes(id: id, error: error)))
        }

        /// Reads until the client closes.
        func drain() throws { while try next() != nil {} }
    }
}

func wireFrame(_ json: [UInt8], _ payload: [UInt8] = []) -> [UInt8] {
    FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json + payload
}

/// The error of an operation.
func failure<Value>(_ body: () async throws(CofferError) -> Value) async -> CofferError? {
    do throws(CofferError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

extension CofferClient {
    /// Makes a vault without a recovery key.
    @discardableResult
    func makeVault(_ passcode: Secret? = nil) async throws(CofferError) -> VaultStatus {
        let params = VaultInitParameters(kdf: .interactive, hasNoPasscode: passcode == nil, hasNoRecoveryKey: true)
        return try await call(params, payload: passcode).value
    }
}

extension Secret {
    /// Copies bytes that are not secret.
    convenience init(_ bytes: [UInt8]) throws(CofferError) { try self.init(copying: bytes.span.bytes) }
}

/// A status from a fake daemon.
let lockedStatus: JSONValue = ["state": "locked", "version": "1", "protocol": 1]
