internal import CofferCore
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// Serves the agent protocol on a listening socket, on one thread.
struct AgentServer: ~Copyable {
    private let listener: OwnedDescriptor
    private let agent: Agent

    init(_ listener: consuming OwnedDescriptor, _ agent: Agent) {
        self.listener = listener
        self.agent = agent
    }

    /// Serves until the process is ended.
    consuming func run() throws(CofferError) -> Never {
        var waiting = PollSet()
        var connections: [AgentConnection] = []
        while true {
            agent.purgeIfDue()
            for connection in connections { connection.answerIfDue() }
            let asking = Self.asking(connections)
            waiting.removeAll()
            for connection in connections {
                waiting.add(connection.number, isReading: connection.isReceiving, isWriting: connection.isSending)
            }
            let isAccepting = connections.count < Limits.agentConnections || Self.longestSilent(connections) != nil
            waiting.add(listener.number, isReading: isAccepting, isWriting: false)
            if let number = asking?.askingNumber { waiting.add(number, isReading: true, isWriting: false) }
            let deadline = ([agent.deadline] + connections.map(\.delayEnd)).compactMap(\.self).min()
            waiting.wait(for: deadline.map { $0 - .now })
            let known = connections.count
            if let asking, waiting.isReady(at: known + 1) { asking.finishAsking() }
            connections = connections.enumerated().filter { index, connection in
                !waiting.isReady(at: index) || connection.advance()
            }.map(\.element)
            if isAccepting, waiting.isReady(at: known), let connection = try accept() {
                if connections.count >= Limits.agentConnections, let silent = Self.longestSilent(connections) {
                    connections.remove(at: silent)
                }
                connections.append(connection)
            }
        }
    }

    /// The index of the connection that has been without a whole message, or with an unread answer, for longest.
    ///
    /// It gives way to one that waits: else some that say nothing would exclude all programs.
    private static func longestSilent(_ connections: [AgentConnection]) -> Int? {
        connections.indices.filter { connections[$0].isSilent }
            .min { connections[$0].lastMessage < connections[$1].lastMessage }
    }

    /// The connection for which a person is asked: one after the other, and the others go on meanwhile.
    private static func asking(_ connections: [AgentConnection]) -> AgentConnection? {
        connections.first { $0.askingNumber != nil } ?? connections.first { $0.beginAsking() }
    }

    private func accept() throws(CofferError) -> AgentConnection? {
        let accepted: OwnedDescriptor?
        do { accepted = try UnixSocket.accept(from: listener) } catch {
            throw error.cofferError("can't accept a connection")
        }
        guard let socket = accepted, let peer = try? PeerIdentity(of: socket) else { return nil }
        let user = peer.credentials.userID
        guard user == geteuid() || user == 0 else {
            agent.report("refused a connection of user \(user)")
            return nil
        }
        return AgentConnection(socket, AgentSession(agent))
    }
}

/// The listening socket of the agent.
enum AgentSocket {
    private static let first: Int32 = 3

    /// Takes the socket that the service manager passed; `nil` if it passed none.
    static func passed() throws(CofferError) -> OwnedDescriptor? {
        guard environment("LISTEN_PID") == "\(getpid())", let count = environment("LISTEN_FDS") else { return nil }
        guard count == "1" else {
            throw CofferError(.param, "the service manager passed \(count) sockets, and one is served")
        }
        let socket = OwnedDescriptor(owning: first)
        do { try UnixSocket.setNonBlocking(socket) } catch {
            throw error.cofferError("can't use the socket of the service manager")
        }
        return socket
    }

    /// Listens at a path.
    static func listening(at path: String) throws(CofferError) -> OwnedDescriptor {
        do { return try UnixSocket.listen(at: path) } catch {
            throw CofferError(
                .io,
                "can't listen at \(quotedForDisplay(path)): \(error.reason)",
                hint: error.code == EADDRINUSE ? "another agent listens there already" : nil
            )
        }
    }
}
