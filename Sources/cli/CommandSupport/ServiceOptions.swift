internal import ArgumentParser
package import CofferClient
package import CofferTerminal

/// The options by which an item is stored for a service.
package struct ServiceOptions: ParsableArguments {
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Store it for a systemd service, readable after the first unlock.",
            valueName: "unit"
        ),
        completion: .unit
    )
    var unit: String?

    @Flag(help: "The service is a user service (systemctl --user).")
    var user = false

    func validate() throws {
        try require("--for", unit != nil, for: ["--user": user])
        guard let service, let unit else { return }
        if service.contains("/") || !service.hasSuffix(".service") && !service.hasSuffix("@") {
            throw ValidationError("--for \(quotedForDisplay(service)): expected a service, such as backup.service")
        }
        if service.isPatternOfUnits { throw Self.isForSeveral(unit, service, user) }
        if service.hasSuffix("@.service") { throw Self.isForSeveral(unit, service.dropLast(8) + "*.service", user) }
    }

    /// Whether the item is for a service.
    package var isGiven: Bool { unit != nil }

    /// The full name of the service.
    private var service: String? { unit?.asUnitName }

    /// The refusal of a name that stands for several units, each of which has a group of its own.
    private static func isForSeveral(_ unit: String, _ pattern: String, _ isUsers: Bool) -> ValidationError {
        let kind = isUsers ? "user-unit" : "unit"
        return ValidationError(
            "--for \(quotedForDisplay(unit)): each instance has a group of its own. Name one, such as web@1.service, or "
                + "store the item without --for, and let all of them read it: coffer allow \(kind) '\(pattern)' read --item NAME"
        )
    }

    /// The options with the group of the service, and with an accessibility by which it works while the vault is locked.
    package func applied(to wishes: PlacementOptions) throws(CofferError) -> PlacementOptions {
        guard let service else { return wishes }
        if wishes.group != nil {
            throw CofferError(
                .param,
                "give either --for or --group",
                hint: "--for stores it in the service's own group"
            )
        }
        var wishes = wishes
        wishes.group = (user ? ClientPattern.userUnit(service) : .unit(service)).description
        if wishes.accessibility == nil && wishes.protectionClass == nil && wishes.scenario == nil {
            if wishes.store == .file {
                wishes.protectionClass = .completeUntilFirstUserAuthentication
            } else {
                wishes.accessibility = .afterFirstUnlock
            }
        }
        return wishes
    }

    /// Says how the service gets the item, and when it will not.
    ///
    /// - Parameter byteCount: Its size, if it is known.
    package func tell(
        _ name: ItemName,
        _ byteCount: Int64?,
        _ protection: Protection,
        _ client: BlockingClient,
        _ format: FormatOptions
    ) throws {
        guard let service else { return }
        if (user ? ServiceManager.user : .system).knows(service) == false {
            Output.warn(["there is no unit \(service) yet"])
        }
        if try client.status().state != .noPasscode, let condition = protection.conditionForServices {
            Output.warn(["\(service) gets \(name.quoted) only \(condition)"])
        }
        let group = (user ? ClientPattern.userUnit(service) : .unit(service)).description
        if client.warnIfNotLoadable(name, in: group, byteCount: byteCount) {
            let folder = user ? "%t" : "/run"
            let id = CredentialAddress.id(of: name).replacing("%", with: "%%")
            format.say("LoadCredential=\(id):\(folder)/coffer/credentials.sock in \(service) gives it to the service")
        }
    }
}

extension Protection {
    /// When a service gets an item in a vault with a passcode, if not always.
    package var conditionForServices: String? {
        if isReadable(in: .beforeFirstUnlock) { return nil }
        return isReadableWhileLocked
            ? "after 'coffer unlock': once after each start of the machine" : "while the vault is unlocked"
    }
}
