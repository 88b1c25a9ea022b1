internal import CofferBus
internal import CofferClient
internal import CofferPrompter
internal import CofferSystem

/// The lock of the vault as an object of the bus, for panels and scripts: `org.coffer.Vault`.
///
/// Its property says the state, its signals are the events of the vault, under the names of ``VaultEvent``.
final class VaultObject: BusServant {
    static let name = "org.coffer.Vault"
    static let path = "/org/coffer/Vault"

    private let bus: BusConnection
    private let holdings: Holdings
    private let asker: Asker
    /// The state that the bus was told last.
    private var told: VaultState?

    init(_ bus: BusConnection, _ holdings: Holdings, _ asker: Asker) {
        self.bus = bus
        self.holdings = holdings
        self.asker = asker
    }

    func carryOut(_ call: BusMessage) throws {
        guard call.path == Self.path else { throw BusFailure.unknownObject(call.path) }
        if try describe(call, as: Self.name, [("State", state)], on: bus) { return }
        switch (call.interface, call.member) {
        case (Self.name, "Lock"):
            try holdings.lock()
            try bus.answer(call)
        case (Self.name, "Unlock"): try unlock(call)
        default: throw BusFailure.unknownMethod(call)
        }
    }

    private var state: PropertyValue { .text(holdings.state.rawValue) }

    private func unlock(_ call: BusMessage) throws {
        let window = try call.text()
        guard holdings.isLocked else { return try bus.answer(call) }
        let held = HeldCall(call)
        try asker.ask(for: call.sender, window: window) { [unowned self] outcome in
            switch outcome {
            case .unlocked: try? bus.answer(held.call)
            case .refused:
                try? bus.refuse(held.call, BusFailure("\(Self.name).Error.Dismissed", "nobody unlocked the vault"))
            case .failed(let error): try? bus.refuse(held.call, BusFailure(error))
            }
        }
    }

    /// The signals, which are the events of the vault.
    static let signals = [
        "ProtectedDataWillBecomeUnavailable", "ProtectedDataDidBecomeUnavailable", "ProtectedDataDidBecomeAvailable",
        "InactiveDataDidBecomeUnavailable", "FirstUnlockDataDidBecomeUnavailable",
    ]

    /// Tells the bus of an event of the vault, and of the state that it leads to.
    func tell(_ event: VaultEvent) throws(SystemError) {
        let number: Int
        switch event {
        case .protectedDataWillBecomeUnavailable: number = 0
        case .protectedDataDidBecomeUnavailable: number = 1
        case .protectedDataDidBecomeAvailable: number = 2
        case .inactiveDataDidBecomeUnavailable: number = 3
        case .firstUnlockDataDidBecomeUnavailable: number = 4
        case .itemsDidChange, .attemptDidFail, .auditDidGrow, .eventsMissed: return
        }
        try bus.emit(Self.signals[number], of: Self.name, at: Self.path)
        try tellState()
    }

    /// Tells the bus of the state, if it is another one.
    func tellState() throws(SystemError) {
        if told == holdings.state { return }
        told = holdings.state
        try bus.emitChange(of: Self.name, at: Self.path, [("State", state)])
    }
}
