internal import ArgumentParser
package import CofferClient
package import CofferTerminal

/// The options by which an item is stored for a service.
package struct ServiceOptions: ParsableArguments {
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Store it for a service, in the service's own access group; it can be read after the first unlock, unless said otherwise.",
            valueName: "unit"
        ),
        completion: .unit
    )
    var unit: String?

    @Flag(help: "The service of --for is one of your own service manager.")
    var user = false

    func validate() throws {
        if user && unit == nil { throw ValidationError("--user goes with --for") }
        if let service, service.contains("/") || !service.hasSuffix(".service") {
            throw ValidationError("--for \(quotedForDisplay(service)): expected a service, such as backup.service")
        }
    }

    /// The full name of the service.
    private var service: String? { unit.map { $0.contains(".") ? $0 : $0 + ".service" } }

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
    package func tell(
        _ name: ItemName,
        _ protection: Protection,
        _ client: BlockingClient,
        _ format: FormatOptions
    ) throws {
        guard let service else { return }
        if try client.status().state != .noPasscode, let condition = protection.conditionForServices {
            Output.warn(["\(service) gets \(name.quoted) only \(condition)"])
        }
        let id = name.path.replacing("/", with: "--")
        if name.path.contains("--") || id.utf8.count > Limits.nameComponentBytes {
            Output.warn(["a unit can't load \(name.quoted) as a credential: its name contains '--', or is too long"])
        } else {
            let folder = user ? "%t" : "/run"
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
