internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Slot: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slot",
        abstract: "The ways to open the vault: list, add, remove or test them.",
        subcommands: [ListSlots.self, AddSlot.self, RemoveSlot.self, TestSlot.self]
    )
}

struct ListSlots: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the keyslots.")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        for slot in try connection.connect().call(SlotListParameters()).value.slots { format.show(slot) }
    }
}

extension KeyslotInfo: Printable {
    var text: [Line] { ["\(number)  \(kind.rawValue.padded(to: 12)) \(words)\(origin)"] }

    private var origin: Line {
        guard let made else { return "" }
        let date: Line = ", made \(Timestamp.text(made))"
        return label.map { "\(date): \($0)" } ?? date
    }

    private var words: String {
        switch kind {
        case .device: "opens by itself on this machine: there is no passcode"
        case .passcode: "opens with the passcode, on this machine"
        case .recoveryKey: "opens with a recovery key, on any machine"
        }
    }
}

struct AddSlot: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Make a recovery key, and a keyslot that it opens.",
        discussion: "Prints the recovery key, which is not shown again."
    )

    @Option(help: ArgumentHelp("What the recovery key is for, as 'coffer slot list' shows it.", valueName: "text"))
    var label: String?

    @OptionGroup var recoveryKey: RecoveryKeyOptions
    @OptionGroup var credential: CredentialOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try recoveryKey.validate(with: format, declining: "")
        try credential.refuseRecoveryKey()
    }

    func run() throws {
        let given = try credential.readGiven()
        let (client, before) = try connection.connectToVault()
        let place = try recoveryKey.open()
        let typed = try credential.ifNeeded(given, before)
        let params = SlotAddParameters(credential: typed == nil ? nil : credential.kind, label: label)
        let returned = try client.call(params, payload: typed)
        let slot = returned.value
        try place.deliver(
            returned.payload,
            after: "made slot \(slot.number)",
            slot.json,
            hasPasscode: before.state != .noPasscode,
            format
        )
    }
}

struct RemoveSlot: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a keyslot: its recovery key opens nothing any more."
    )

    @Argument(help: "The number of the slot, as 'coffer slot list' has it.", completion: .slot)
    var slot: UInt8

    @OptionGroup var credential: CredentialOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws { try credential.refuseRecoveryKey() }

    func run() throws {
        let given = try credential.readGiven()
        let (client, before) = try connection.connectToVault()
        let typed = try credential.ifNeeded(given, before)
        let params = SlotRemoveParameters(number: Int64(slot), credential: typed == nil ? nil : credential.kind)
        try client.call(params, payload: typed)
    }
}

struct TestSlot: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Say which keyslot a recovery key opens, or the passcode.",
        discussion: "Changes nothing, and unlocks nothing. A wrong passcode counts as one."
    )

    @Flag(help: "Test the passcode, and not a recovery key.")
    var passcode = false

    @OptionGroup var credential: CredentialOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(["--passcode": passcode], credential.givenRecoveryKey)
    }

    func run() throws {
        let kind: Credential = passcode || credential.passcode.passcodeFd != nil ? .passcode : .recoveryKey
        let given = try credential.readGiven()
        let (client, before) = try connection.connectToVault()
        let typed =
            try given ?? (kind == .passcode ? credential.ask(before) : SecretInput.askRecoveryKey())
        let result = try client.call(SlotTestParameters(credential: kind), payload: typed).value
        format.show(result.json, "it opens slot \(result.number)")
    }
}

extension CredentialOptions {
    /// Refuses what the daemon would refuse, before the prompt.
    fileprivate func refuseRecoveryKey() throws {
        guard kind == .recoveryKey else { return }
        throw ValidationError(
            "keyslots are changed with the passcode, and not with a recovery key: "
                + "'coffer passcode change --recovery-key' sets a new passcode"
        )
    }

    /// The given credential, or the typed one; `nil` in a vault without a passcode.
    fileprivate func ifNeeded(_ given: Secret?, _ status: VaultStatus) throws -> Secret? {
        status.state == .noPasscode ? given : try given ?? ask(status)
    }
}
