internal import CofferHandlers
internal import CofferSystem
internal import CofferVault

/// A part of the server, with what all parts use.
class ServerPart {
    final let loop: EventLoop
    final let configuration: Configuration
    final let handlers: Handlers
    /// All connections.
    final let connections: Connections

    init(on loop: EventLoop, _ configuration: Configuration, _ handlers: Handlers) {
        self.loop = loop
        self.configuration = configuration
        self.handlers = handlers
        connections = Connections(on: loop, configuration.vault.clock)
    }

    /// Makes a part of the same server.
    init(beside other: ServerPart) {
        loop = other.loop
        configuration = other.configuration
        handlers = other.handlers
        connections = other.connections
    }

    final var vault: Vault { handlers.shared.vault }
    final var shared: HandlerState { handlers.shared }
    final var clock: BootClock { configuration.vault.clock }
}

extension UInt64? {
    /// The earlier of two times, either of which may be absent.
    func earlier(_ other: UInt64?) -> UInt64? {
        guard let self, let other else { return self ?? other }
        return Swift.min(self, other)
    }
}
