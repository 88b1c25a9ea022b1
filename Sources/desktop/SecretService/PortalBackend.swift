internal import CofferBus
internal import CofferClient
internal import CofferMemory
internal import CofferPrompter
internal import CofferSystem

/// The secrets of sandboxed applications: what xdg-desktop-portal asks for when one of them wants its own.
///
/// An application gets 64 random bytes, always the same, and encrypts with them what it keeps itself.
///
/// Source: `org.freedesktop.impl.portal.Secret`, version 1.
final class PortalBackend: BusServant {
    static let name = "org.freedesktop.impl.portal.desktop.coffer"
    static let path = "/org/freedesktop/portal/desktop"
    static let interface = "org.freedesktop.impl.portal.Secret"
    /// The access group of the secrets.
    private static let group = "portal"
    /// The secret of the programs outside of a sandbox, which have no id: an id has a dot.
    private static let unsandboxed = "unsandboxed"

    private let bus: BusConnection
    private let connection: DaemonConnection
    private let holdings: Holdings
    private let asker: Asker

    /// What a call is answered with, as the portal numbers it.
    private enum Response: UInt32 {
        case success = 0
        /// The person has refused.
        case cancelled = 1
        case failed = 2
    }

    init(_ bus: BusConnection, _ connection: DaemonConnection, _ holdings: Holdings, _ asker: Asker) {
        self.bus = bus
        self.connection = connection
        self.holdings = holdings
        self.asker = asker
    }

    func carryOut(_ call: BusMessage) throws {
        guard call.path == Self.path else { throw BusFailure.unknownObject(call.path) }
        if try describe(call, as: Self.interface, [("version", .number(1))], on: bus) { return }
        guard call.interface == Self.interface, call.member == "RetrieveSecret" else {
            throw BusFailure.unknownMethod(call)
        }
        try retrieve(call)
    }

    private func retrieve(_ call: BusMessage) throws {
        _ = try call.objectPath()
        let application = try call.text()
        let sink = Sink(try call.descriptor())
        let held = HeldCall(call)
        if !holdings.isLocked { return end(held, give(application, to: sink)) }
        try asker.ask(for: call.sender, window: "") { [unowned self] outcome in
            switch outcome {
            case .unlocked: end(held, give(application, to: sink))
            case .refused: end(held, .cancelled)
            case .failed: end(held, .failed)
            }
        }
    }

    /// The descriptor that an application waits at.
    private final class Sink {
        let descriptor: OwnedDescriptor
        init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    }

    private func end(_ held: HeldCall, _ response: Response) {
        try? bus.answer(held.call) { (writer) throws(SystemError) in
            try writer.number(response.rawValue)
            try writer.properties([])
        }
    }

    private func give(_ application: String, to sink: Sink) -> Response {
        do {
            let secret = try secret(of: application)
            try secret.withBytes { (bytes) throws(SystemError) in
                try sink.descriptor.writeAtOnce(bytes)
            }
            return .success
        } catch {
            return .failed
        }
    }

    /// The secret of an application, which is made when it is asked for first.
    private func secret(of application: String) throws(CofferError) -> Secret {
        let name = try ItemName(application.isEmpty ? Self.unsandboxed : application)
        let stored = { () throws(CofferError) in try self.connection.contents(of: name, in: Self.group) }
        if let known = try connection.unlessMissing(stored) { return known }
        let made: Secret
        do { made = Secret(try SecretBytes(random: Limits.portalSecretBytes)) } catch { throw .noSecretMemory }
        let params = ItemPutParameters(
            name: name,
            wishes: PlacementOptions(kind: .key, accessibility: .whenUnlocked, store: .keychain, group: Self.group),
            isIfAbsent: true
        )
        try connection.put(params, made)
        return made
    }
}
