internal import CofferCore
internal import CofferCommandSupport
internal import CofferWire

/// The credentials that a unit loads, according to its service manager.
struct UnitCredentials {
    /// The ID of a credential and the path of its source.
    struct Source {
        let id: String
        let path: String
    }

    /// Credentials that are loaded unencrypted.
    let loaded: [Source]

    /// Queries the service manager.
    ///
    /// - Parameters:
    ///   - unit: The full name of the unit.
    ///   - isOwners: Whether it belongs to the user's service manager.
    /// - Throws: `itemNotFound` if the unit does not exist; `notAvailable` if there is no service manager.
    init(of unit: String, isOwners: Bool) throws(CofferError) {
        let manager: ServiceManager = isOwners ? .user : .system
        guard let place = try manager.place(of: unit) else { throw Self.isNotUnderstood }
        let get = ["get-property", ServiceManager.busName, place]
        guard try manager.ask(get + [ServiceManager.busName + ".Unit", "LoadState"]) == .string("loaded") else {
            throw CofferError(
                .itemNotFound,
                "there is no unit \(quotedForDisplay(unit))",
                hint: isOwners
                    ? "write ~/.config/systemd/user/\(unit), and run 'systemctl --user daemon-reload'"
                    : "write /etc/systemd/system/\(unit), and run 'systemctl daemon-reload'; --user is for a unit of your "
                        + "own service manager"
            )
        }
        let sources = try manager.ask(get + [ServiceManager.busName + ".Service", "LoadCredential"])
        guard let pairs = sources?.arrayValue else { throw Self.isNotUnderstood }
        loaded = pairs.compactMap { pair in
            guard let parts = pair.arrayValue, parts.count == 2, let id = parts[0].stringValue,
                let path = parts[1].stringValue
            else { return nil }
            return Source(id: id, path: path)
        }
    }

    private static let isNotUnderstood = CofferError(.protocolViolation, "what 'busctl' has answered is not understood")
}
