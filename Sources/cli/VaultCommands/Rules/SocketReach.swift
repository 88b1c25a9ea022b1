internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferWire
internal import Glibc

/// Whether other users can connect to a vault: the daemon decides only about clients that reach its socket.
enum SocketReach {
    /// Refuses to give something to a client that can't connect to the vault, whatever it is given.
    ///
    /// - Throws: `param` if the client is another user, or a unit that runs as one, and only the owner of the socket can
    ///   connect.
    static func requireReachable(by client: ClientPattern, _ vault: BlockingClient) throws(CofferError) {
        guard let path = vault.socketPath, let owner = owner(ofPrivateSocket: path), isAnother(client, than: owner)
        else {
            return
        }
        throw CofferError(
            .param,
            "\(client.ruleWords) can't connect to this vault: its socket \(quotedForDisplay(path)) is for \(ClientPattern.user(owner).ruleWords) alone",
            hint: way(for: client)
        )
    }

    /// What gives such a client an item all the same, by the machine's vault.
    private static func way(for client: ClientPattern) -> String {
        if case .user(let number) = client {
            let user = UserDatabase.userName(of: number) ?? "\(number)"
            return
                "'coffer share NAME --with \(user)' puts a copy into the machine's vault, where that user may read it"
        }
        return "'sudo coffer put NAME --for UNIT' stores it in the machine's vault, for the unit alone"
    }

    /// The owner of a socket to which no other user can connect; `nil` if others may.
    ///
    /// Root can always connect. Any user may be in a group.
    private static func owner(ofPrivateSocket path: String) -> UInt32? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        let real = unsafe String(cString: resolved)
        guard let socket = status(of: real) else { return nil }
        let directories = real.utf8.indices.filter { real.utf8[$0] == UInt8(ascii: "/") }.map { String(real[..<$0]) }
        let isOpen = directories.allSatisfy {
            status(of: $0.isEmpty ? "/" : $0).map { $0.st_mode & 0o011 != 0 } ?? true
        }
        return isOpen && socket.st_mode & 0o022 != 0 ? nil : socket.st_uid
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    private static func isAnother(_ client: ClientPattern, than owner: UInt32) -> Bool {
        switch client {
        case .user(let number): number != 0 && number != owner
        case .unit(let name): UnitUser(of: name)?.isAnother(than: owner) ?? false
        // A member of a group may be the owner; the units of its own manager and its programs run as the owner.
        case .group, .userUnit, .executable, .outsideServices: false
        }
    }
}

/// The user that a unit of the system runs as, according to its service manager.
enum UnitUser {
    case named(String)
    /// One that exists only while the unit runs.
    case dynamic

    /// Queries the service manager; `nil` if it does not know the unit, or there is none.
    init?(of unit: String) {
        guard unit.hasSuffix(".service"), let place = try? ServiceManager.system.place(of: unit) else { return nil }
        func property(_ interface: String, _ name: String) -> JSONValue? {
            let interface = "\(ServiceManager.busName).\(interface)"
            return try? ServiceManager.system.ask(["get-property", ServiceManager.busName, place, interface, name])
        }
        guard property("Unit", "LoadState") == .string("loaded") else { return nil }
        if property("Service", "DynamicUser") == .bool(true) {
            self = .dynamic
        } else {
            self = .named(property("Service", "User")?.stringValue ?? "")
        }
    }

    /// Whether it is a user that has no right by itself to a file of the owner alone.
    func isAnother(than owner: UInt32) -> Bool {
        switch self {
        case .dynamic: true
        // A unit that names none runs as root.
        case .named(""): false
        case .named(let name):
            (UInt32(name) ?? (try? UserDatabase.userID(named: name))).map { $0 != 0 && $0 != owner } ?? false
        }
    }
}
