internal import CofferCore
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// The peers of a listening socket.
package enum Peers: Sendable {
    /// Clients, which speak the protocol.
    case clients
    /// Service managers, which request credentials for units.
    case serviceManagers
}

/// Accepts connections, and admits or refuses a client before a byte is read.
final class Acceptor: ServerPart {
    private let audit: AuditTrail
    /// Handles a connection of a service manager.
    var admitServiceManager: (consuming OwnedDescriptor) -> Void = { _ in }
    private var listeners: [Listener] = []
    /// The time at which listeners that could not accept are resumed.
    private(set) var nextDeadline: UInt64?

    init(_ audit: AuditTrail) {
        self.audit = audit
        super.init(beside: audit)
    }

    // MARK: Listening

    /// Accepts connections from a listening socket.
    func listen(on socket: consuming OwnedDescriptor, for peers: Peers) throws(CofferError) {
        let listener = Listener(socket, peers)
        do {
            // Before the first accept: connections in the backlog inherit the setting.
            try UnixSocket.passCredentials(on: listener.socket)
            listener.watch = try loop.watch(listener.socket, for: .readable) { [unowned self] _ in
                accept(from: listener)
            }
        } catch {
            throw error.cofferError("can't watch the socket")
        }
        listeners.append(listener)
    }

    /// Closes the listening sockets.
    func close() {
        for listener in listeners {
            if let watch = listener.watch { loop.unwatch(watch) }
        }
        listeners = []
    }

    /// Accepts connections until ``Limits/acceptQuantum`` has passed: those that are accepted must be served, too.
    private func accept(from listener: Listener) {
        let end = MonotonicTime.now + Limits.acceptQuantum
        do {
            repeat {
                guard let socket = try UnixSocket.accept(from: listener.socket) else { return }
                switch listener.peers {
                case .clients: admit(socket)
                case .serviceManagers: admitServiceManager(socket)
                }
            } while MonotonicTime.now < end
        } catch {
            // The process or the system has no descriptors or memory left. Wait until a connection ends, or for a
            // moment: trying again at once would spin.
            listener.isPaused = true
            if let watch = listener.watch { try? loop.change(watch, to: []) }
            nextDeadline = clock.now + Limits.acceptPauseNanoseconds
        }
    }

    /// Resumes the listeners whose pause is over.
    func resumeIfDue() {
        if let nextDeadline, nextDeadline <= clock.now { resume() }
    }

    /// Resumes the listeners that are paused.
    func resume() {
        nextDeadline = nil
        for listener in listeners where listener.isPaused {
            listener.isPaused = false
            if let watch = listener.watch { try? loop.change(watch, to: .readable) }
        }
    }

    // MARK: Admitting

    private func admit(_ socket: consuming OwnedDescriptor) {
        let (caller, tenant, peer): (Caller, Tenant, ProcessCredentials)
        do {
            try UnixSocket.passCredentials(on: socket)
            (caller, tenant, peer) = try identify(socket) { try vault.rights(of: $0) }
        } catch {
            // If the kernel no longer knows the peer, the peer can't receive the error either.
            return refuse(socket, CofferError(mapping: error, "can't tell who is calling"))
        }
        try? connections.add(Connection(socket, caller, peer, tenant, in: connections))
    }

    private func refuse(_ socket: consuming OwnedDescriptor, _ error: CofferError) {
        let head = OutgoingFrame(error).head
        _ = unsafe try? socket.send(head.span.bytes)
    }

    /// Identifies the client and its tenant.
    ///
    /// - Parameter decide: Returns the rights of the client; an error is recorded in the audit.
    func identify(
        _ socket: borrowing OwnedDescriptor,
        _ decide: (ClientIdentity) throws -> AccessRights
    ) throws -> (Caller, Tenant, ProcessCredentials) {
        let peer = try PeerIdentity(of: socket)
        guard let process = try HeldProcess(of: socket, peer) else { throw CofferError.callerIsGone }
        let identity = try vault.settings.identity(of: process, peer, gone: .callerIsGone)
        let rights: AccessRights
        do { rights = try decide(identity) } catch {
            audit.noteRefused(identity, error)
            throw error
        }
        let restsOnProgram = rights.restOnProgram || vault.hasProgramRule(for: identity)
        let program = restsOnProgram ? HeldProgram(process, identity.executableFile) : nil
        let tenant = connections.tenant(of: identity, rights)
        try connections.checkRoom(for: tenant)
        return (Caller(identity, rights, of: tenant.number, program: program), tenant, peer.credentials)
    }
}

private final class Listener {
    let socket: OwnedDescriptor
    let peers: Peers
    var watch: EventLoop.Watch?
    var isPaused = false

    init(_ socket: consuming OwnedDescriptor, _ peers: Peers) {
        self.socket = socket
        self.peers = peers
    }
}
