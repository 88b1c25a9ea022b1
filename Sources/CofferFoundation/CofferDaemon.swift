internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferWire
public import Foundation
internal import Synchronization

/// The daemon that everything in this library speaks to, and the part of its vault that this program lives in.
///
/// It can be used from every thread: each call takes a connection of its own. A request that was sent is never sent again:
/// when the daemon goes in the middle, the call fails with `notAvailable`, and the next one connects anew.
public final class CofferDaemon: Sendable {
    /// The directory, at the root of the file store, that ``CofferFileManager/urls(for:in:)`` begins with.
    public let container: String
    private let socketPath: String?
    private let idle = Mutex<[IdleClient]>([])
    /// More connections than there are threads that use them at once are of no use.
    private static let maximumIdle = 4

    /// Names a daemon; nothing is connected before it is used.
    ///
    /// - Parameters:
    ///   - socketPath: Its socket; if none is named, the one that `coffer` takes: that of `COFFER_SOCKET`, the user's own,
    ///     or the system's. No daemon is started.
    ///   - container: The directory of this program's files; named after the program if nothing is said.
    public init(socketPath: String? = nil, container: String = ProcessInfo.processInfo.processName) {
        self.socketPath = socketPath
        self.container = container
    }

    private static let standard = Mutex(CofferDaemon())
    @TaskLocal private static var scoped: CofferDaemon?

    /// The one that is used where ``with(_:_:)`` names no other.
    public static var shared: CofferDaemon {
        get { scoped ?? standard.withLock { $0 } }
        set { standard.withLock { $0 = newValue } }
    }

    /// Uses another daemon in a part of the program, and in the tasks that it makes.
    ///
    /// - Parameters:
    ///   - daemon: The daemon.
    ///   - body: The part of the program.
    /// - Returns: What `body` returns.
    public static func with<Result>(_ daemon: CofferDaemon, _ body: () throws -> Result) rethrows -> Result {
        try $scoped.withValue(daemon, operation: body)
    }

    /// Whether items of every protection can be used now, as of `UIApplication`; false where the daemon can't be reached.
    public var isProtectedDataAvailable: Bool {
        let state = try? perform { (client) throws(CofferError) in try client.status().state }
        return state == .unlocked || state == .locking || state == .noPasscode
    }

    // MARK: Connections

    /// Does something with a connection that nobody else uses meanwhile.
    ///
    /// - Parameter body: Gets the connection, for as long as it runs.
    func perform<Result>(
        _ body: (BlockingClient) throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
        let client = try takeClient()
        do throws(CofferError) {
            let result = try body(client)
            giveBack(client)
            return result
        } catch {
            // What failed so may have left the connection in the middle of an answer.
            if error != .broken && error != .nonsense { giveBack(client) }
            throw error
        }
    }

    /// Takes a connection that the caller keeps.
    func takeClient() throws(CofferError) -> BlockingClient {
        while let client = idle.withLock({ $0.popLast() })?.client {
            // Asking for the end of what was shown on it tells whether the daemon is still there, and changes nothing:
            // only then is it safe to send what must not be sent twice.
            if (try? client.call(ContextEndParameters()).value) != nil { return client }
        }
        return try connect()
    }

    private func giveBack(_ client: BlockingClient) {
        let entry = IdleClient(client: client)
        idle.withLock { if $0.count < Self.maximumIdle { $0.append(entry) } }
    }

    private func connect() throws(CofferError) -> BlockingClient {
        if let socketPath { return try BlockingClient(socketPath: socketPath) }
        let environment = ProcessInfo.processInfo.environment
        return try .connect(toFirstOf: SocketPath.candidates { environment[$0] })
    }
}

/// A connection that waits for the next one who needs it.
private struct IdleClient: @unchecked Sendable {
    // Sendable: it is used by the one thread that has taken it out.
    let client: BlockingClient
}

extension CofferError {
    fileprivate static let broken = CofferError(.notAvailable, "")
    fileprivate static let nonsense = CofferError(.protocolViolation, "")
}

extension SecretBytes {
    /// Takes the bytes of a `Data`, which nobody wipes.
    init(_ data: Data) throws(CofferError) {
        do { self = try SecretBytes(copying: data.bytes) } catch { throw .noSecretMemory }
    }

    /// What goes with a request: nothing where there are no bytes.
    static func payload(_ data: Data?) throws(CofferError) -> SecretBytes? {
        guard let data, !data.isEmpty else { return nil }
        return try SecretBytes(data)
    }
}

extension Data {
    /// Hands bytes out to where nobody wipes them.
    init(exposing bytes: RawSpan) { self = unsafe bytes.withUnsafeBytes { unsafe Data($0) } }

    /// Hands bytes out to where nobody wipes them; none where there is no value.
    init(exposing bytes: borrowing SecretBytes?) {
        switch bytes {
        case .none: self.init()
        case .some(let bytes): self = bytes.withBytes { Data(exposing: $0) }
        }
    }
}
