internal import CofferClient
internal import CofferCore
internal import CofferWire
public import Foundation
internal import Synchronization

/// The daemon that this library uses, and the directory of this program in its vault.
///
/// It can be used from every thread: each call uses a connection of its own. A request is never sent twice:
/// if the daemon stops during a call, the call fails with `notAvailable`, and the next one reconnects.
public final class CofferDaemon: Sendable {
    /// The directory, at the root of the file store, that ``CofferFileManager/urls(for:in:)`` begins with.
    public let container: String
    private let socketPath: String?
    /// The access group of calls that name none.
    private let group: String
    private let idle = Mutex<[IdleClient]>([])
    private let isWatched = Mutex(false)

    /// Describes a daemon; the first call connects.
    ///
    /// - Parameters:
    ///   - socketPath: Its socket; `nil` takes that of `coffer`: the one in `COFFER_SOCKET`, or the user's,
    ///     or the system's. No daemon is started.
    ///   - container: The directory for the files of this program; by default its name.
    ///   - group: The access group of its files, and of its keychain items if a call names no `kSecAttrAccessGroup`;
    ///     `nil` takes the group that the daemon has for the program of this process.
    public init(
        socketPath: String? = nil,
        container: String = ProcessInfo.processInfo.processName,
        group: String? = nil
    ) {
        self.socketPath = socketPath
        self.container = container
        self.group = group ?? AccessGroup.ownProgram
    }

    private static let standard = Mutex(CofferDaemon())
    @TaskLocal private static var scoped: CofferDaemon?

    /// The daemon in use, unless ``with(_:_:)`` selects another.
    public static var shared: CofferDaemon {
        get { scoped ?? standard.withLock { $0 } }
        set { standard.withLock { $0 = newValue } }
    }

    /// Selects another daemon for a part of the program and the tasks that it starts.
    ///
    /// - Parameters:
    ///   - daemon: The daemon.
    ///   - body: The part of the program.
    /// - Returns: The result of `body`.
    public static func with<Result>(_ daemon: CofferDaemon, _ body: () throws -> Result) rethrows -> Result {
        try $scoped.withValue(daemon, operation: body)
    }

    /// Whether items of every protection are available now, as in `UIApplication`; false if the daemon can't
    /// be reached.
    public var isProtectedDataAvailable: Bool {
        let state = try? perform { (client) throws(CofferError) in try client.status().state }
        return state == .unlocked || state == .locking || state == .noPasscode
    }

    // MARK: Notifications

    /// Begins to post notifications of protected data, unless that was done before.
    func postNotifications() {
        let isFirst = isWatched.withLock { isWatched in
            defer { isWatched = true }
            return !isWatched
        }
        guard isFirst else { return }
        let watch = ProtectedDataWatch(self)
        Thread.detachNewThread {
            var watch = watch
            watch.run()
        }
    }

    /// A connection that receives the events of the vault.
    func subscribe() throws(CofferError) -> IdleClient {
        let client = try connect()
        try client.watch()
        return IdleClient(client: client)
    }

    // MARK: Connections

    /// Performs an operation with exclusive use of a connection.
    ///
    /// - Parameter body: Gets the connection, which is valid only during the call.
    func perform<Result>(
        _ body: (BlockingClient) throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
        let client = try takeClient()
        do throws(CofferError) {
            let result = try body(client)
            giveBack(client)
            return result
        } catch {
            // After these errors, the connection may be in the middle of an answer.
            if error != .broken && error != .nonsense { giveBack(client) }
            throw error
        }
    }

    /// Removes a connection from the pool for the caller, or makes one.
    func takeClient() throws(CofferError) -> BlockingClient {
        while let client = idle.withLock({ $0.popLast() })?.client {
            // Ending the authentication context changes nothing else and shows that the daemon still
            // answers. Only then may the caller send a request that must not be repeated.
            if (try? client.call(ContextEndParameters()).value) != nil { return client }
        }
        return try connect()
    }

    private func giveBack(_ client: BlockingClient) {
        let entry = IdleClient(client: client)
        idle.withLock { if $0.count < Limits.idleConnections { $0.append(entry) } }
    }

    private func connect() throws(CofferError) -> BlockingClient {
        let client = try connectToSocket()
        // Only the daemon can tell which program this is: it knows that from the kernel.
        try client.call(HelloParameters(protocolNumber: Int64(Version.protocolNumber), group: group))
        return client
    }

    private func connectToSocket() throws(CofferError) -> BlockingClient {
        if let socketPath { return try BlockingClient(socketPath: socketPath) }
        let environment = ProcessInfo.processInfo.environment
        return try .connect(toFirstOf: SocketPath.candidates { environment[$0] })
    }
}

/// A connection in the pool, or of the thread that watches.
struct IdleClient: @unchecked Sendable {
    // Sendable: only the thread that has taken it uses it.
    let client: BlockingClient
}

extension CofferError {
    fileprivate static let broken = CofferError(.notAvailable, "")
    fileprivate static let nonsense = CofferError(.protocolViolation, "")
}

extension Data {
    /// Copies a secret to ordinary memory, which is not wiped.
    init(exposing secret: Secret) {
        self = secret.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
    }

    /// Copies the bytes to locked memory; the original is not wiped.
    var secret: Secret { get throws(CofferError) { try Secret(copying: bytes) } }
}
