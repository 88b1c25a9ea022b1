internal import ArgumentParser
internal import CofferBackup
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct BackupInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Set up the backup of the vault, in a new repository.",
        discussion: """
            Prints a recovery key, which opens every snapshot on any machine, as the passphrase of the backup does. It is \
            not shown again. 'coffer backup create' needs neither: it works while the vault is locked.
            """
    )

    @Argument(help: "Where the repository is to be.", completion: .directory)
    var repository: String

    @Flag(help: "Never remove anything from it, so that its storage can forbid that.")
    var appendOnly = false

    @Option(
        help: ArgumentHelp(
            "Have 'coffer status' warn when there is no snapshot for this time; 0: never.",
            valueName: "time"
        )
    )
    var warnAfter = "7d"

    @Option(help: "What a guess of the passphrase costs: 64 MiB, 256 MiB or 1 GiB of memory.")
    var kdf: PasscodeCost = .moderate

    @Option(
        name: [.customLong("new-passphrase-fd"), .customLong("passphrase-fd")],
        help: ArgumentHelp("Read the new passphrase of the backup from this descriptor.", valueName: "number")
    )
    var passphraseFd: Int32?

    @OptionGroup var recoveryKey: RecoveryKeyOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try recoveryKey.validate(with: format, declining: "")
        if warnAfter != "0" && Moment.seconds(warnAfter) == nil {
            throw ValidationError("--warn-after is a time such as 12h, 7d or 4w, or 0")
        }
        if let passphraseFd, passphraseFd == passcode.passcodeFd {
            throw ValidationError("the passphrase needs a descriptor of its own")
        }
    }

    func run() throws {
        let given = try passcode.readGiven()
        let givenPassphrase = try SecretInput.passcode(from: passphraseFd, "the passphrase")
        let (client, before) = try connection.connectToVault()
        let place = absolutePlace(repository)
        let storage = try RepositoryPlace.storage(at: place)
        try Repository.requireNone(storage)
        let output = try recoveryKey.open()
        let typed = before.state == .noPasscode ? nil : try given ?? CredentialOptions.askPasscode(before)
        let passphrase = try givenPassphrase ?? SecretInput.askNew("passphrase of the backup")
        guard passphrase.count > 0 else { throw CofferError(.param, "the passphrase is empty") }
        let seconds = Moment.seconds(warnAfter) ?? 0
        // The passcode is checked here: a wrong one leaves the repository that the vault remembers.
        let added = try client.call(
            SlotAddParameters(credential: typed == nil ? nil : .passcode, label: Self.label(place)),
            payload: typed
        )
        do throws(CofferError) {
            // The vault goes on with the place that it has until there is a repository at this one.
            let registration = try client.call(BackupRegisterParameters()).value
            let configuration = try RepositoryConfiguration(
                vaultID: registration.vaultID,
                verificationKey: registration.publicKey,
                isAppendOnly: appendOnly,
                key: BackupKey(added.payload.copiedBytes()),
                passphrase: passphrase.copiedBytes(),
                cost: kdf
            )
            _ = try Repository.create(storage, configuration)
            _ = try client.call(
                BackupRegisterParameters(
                    repository: place,
                    warnAfterSeconds: seconds,
                    configuration: hexadecimal(configuration.digest)
                )
            )
        } catch {
            client.removeUselessSlot(added.value.number, typed)
            throw error
        }
        BackupSettings.storeOrWarn(place, warnAfterSeconds: seconds)
        let json: JSONObject = ["repository": .string(place), "slot": .integer(added.value.number)]
        try output.deliver(
            added.payload,
            after: "set up the backup in \(quotedForDisplay(place))",
            json,
            warning: "; 'coffer backup create' stores the first snapshot. Its recovery key is keyslot "
                + "\(added.value.number) of 'coffer slot list'",
            hasPasscode: typed != nil,
            format
        )
    }

    /// What the keyslot is for; the end of a long place tells more than its beginning.
    private static func label(_ place: String) -> String {
        var place = place
        while place.utf8.count > Limits.slotLabelBytes - 16 { place.removeFirst() }
        return "backup in \(place)"
    }
}

extension BlockingClient {
    /// Removes the slot of a repository that could not be made: it would only be another way in.
    fileprivate func removeUselessSlot(_ number: Int64, _ passcode: Secret?) {
        let params = SlotRemoveParameters(number: number, credential: passcode == nil ? nil : .passcode)
        do throws(CofferError) { try call(params, payload: passcode) } catch {
            Output.warn([
                "keyslot \(number), of a recovery key that was not shown, stays: \(error.message); "
                    + "'coffer slot remove \(number)' removes it"
            ])
        }
    }
}
