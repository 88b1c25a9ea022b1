internal import CofferClient
internal import CofferSystem

/// Requests with a passcode, which take as long as the derivation of a key: meanwhile the bus is served.
///
/// Each has a thread, and a connection of its own: what the passcode allows ends with that.
final class PasscodeRequests {
    private struct Ended: Sendable {
        let number: Int
        let result: Result<Secret, CofferError>
    }

    private let connect: @Sendable () throws(CofferError) -> BlockingClient
    private let ended: Mailbox<Ended>
    private var waiting: [Int: (Result<Secret, CofferError>) -> Void] = [:]
    private var lastNumber = 0

    /// - Parameters:
    ///   - loop: The loop; the caller must be on its thread.
    ///   - connect: Makes a new connection.
    init(
        on loop: EventLoop,
        _ connect: @escaping @Sendable () throws(CofferError) -> BlockingClient
    ) throws(SystemError) {
        self.connect = connect
        ended = try Mailbox()
        try ended.deliver(on: loop) { [unowned self] message in
            waiting.removeValue(forKey: message.number)?(message.result)
        }
    }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - request: Gets a connection, on another thread, and returns the secret that was read.
    ///   - then: Gets the result, on the thread of the loop.
    func make(
        _ request: @escaping @Sendable (DaemonConnection) throws(CofferError) -> Secret,
        then: @escaping (Result<Secret, CofferError>) -> Void
    ) {
        lastNumber += 1
        let (number, connect, ended) = (lastNumber, connect, ended)
        waiting[number] = then
        do throws(SystemError) {
            try NativeThread.startDetached {
                let result = Result { () throws(CofferError) in try request(DaemonConnection(connect)) }
                ended.post(Ended(number: number, result: result))
            }
        } catch {
            waiting[number] = nil
            then(.failure(error.cofferError("can't use the passcode")))
        }
    }
}
