import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A `cofferd` under a service manager of the machine: a socket unit and a service unit, and a vault of its own.
struct Service {
    /// The units' name.
    let name: String
    private let machine: Machine
    private let person: String?
    /// Where the units of the package have their sockets; `nil` for units of a test.
    private let packageSocket: String?

    /// Writes the units and starts the socket.
    ///
    /// - Parameters:
    ///   - name: The units' name; the state directory has it, too.
    ///   - person: Whose service manager runs it; the system's if none is given.
    ///   - options: Options of the daemon.
    ///   - settings: Further lines of the service unit.
    init(_ name: String, of person: String? = nil, options: [String] = [], _ settings: [String] = []) throws {
        self.name = name
        self.person = person
        packageSocket = nil
        machine = try #require(Machine.shared)
        try machine.write(socketUnit, to: "\(folder)/\(name).socket")
        try write(options: options, settings)
        try control("enable", "--now", "\(name).socket")
    }

    /// The service that the package has installed.
    ///
    /// - Parameter person: Whose service manager runs it; the system's if none is given.
    init(installedFor person: String? = nil) throws {
        name = "cofferd"
        self.person = person
        packageSocket = (person == nil ? "/run" : "/run/user/1000") + "/coffer/coffer.sock"
        machine = try #require(Machine.shared)
    }

    /// Writes the service unit again; a running service continues unchanged.
    func write(options: [String], _ settings: [String]) throws {
        try machine.write(serviceUnit(options, settings), to: "\(folder)/\(name).service")
        try control("daemon-reload")
    }

    private var folder: String { person == nil ? "/etc/systemd/system" : "/etc/systemd/user" }

    private var socketPath: String { person == nil ? "/run/\(name).sock" : "%t/\(name).sock" }

    private var socketUnit: String {
        """
        [Socket]
        ListenStream=\(socketPath)
        SocketMode=0600
        \(person == nil ? "SocketUser=\(Machine.serviceUser)" : "")

        [Install]
        WantedBy=sockets.target

        """
    }

    private func serviceUnit(_ options: [String], _ settings: [String]) -> String {
        // What only the system's manager can do.
        let hardening = """
            User=\(Machine.serviceUser)
            LimitMEMLOCK=64M
            PrivateTmp=yes
            ProtectHome=yes
            ProtectSystem=strict
            """
        return """
            [Service]
            Type=notify
            ExecStart=\(Machine.programs)/cofferd \(options.joined(separator: " "))
            StateDirectory=\(name)
            StateDirectoryMode=0700
            Environment=SWIFT_BACKTRACE=enable=no
            LimitCORE=0
            NoNewPrivileges=yes
            \(person == nil ? hardening : "")
            \(settings.joined(separator: "\n"))

            """
    }

    // MARK: The service manager

    /// `systemctl`, which has to succeed.
    @discardableResult func control(_ arguments: String...) throws -> String {
        try machine.succeed(["systemctl"] + (person == nil ? [] : ["--user"]) + arguments, as: person)
    }

    /// A property of the service.
    func property(_ property: String) throws -> String {
        try control("show", "--value", "--property=\(property)", "\(name).service")
    }

    /// Whether the service runs and has said that it is ready.
    var isActive: Bool { get throws { try property("ActiveState") == "active" } }

    /// What the daemon has said on its standard error, as soon as it is as wanted, or after a minute.
    func journal(until isWanted: (String) -> Bool = { _ in true }) throws -> String {
        try machine.journal(["--unit=\(name).service", "_COMM=cofferd", "_TRANSPORT=stdout"], until: isWanted)
    }

    // MARK: The vault

    /// Runs `coffer` as the vault's owner.
    func coffer(_ arguments: String..., input: String = "") throws -> CommandResult {
        try run(["\(Machine.programs)/coffer"] + arguments, input: input)
    }

    /// Runs `coffer` in a unit of the system's manager.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - unit: The unit's name.
    ///   - user: The user that it runs as; by default the vault's owner.
    func coffer(_ arguments: String..., in unit: String, as user: String = Machine.serviceUser) throws -> CommandResult
    {
        try machine.run(
            [
                "systemd-run", "--unit=\(unit)", "--wait", "--pipe", "--collect", "--quiet", "--uid=\(user)",
                "--setenv=COFFER_SOCKET=\(socketPath)", "\(Machine.programs)/coffer",
            ] + arguments
        )
    }

    /// Runs a command as the vault's owner, whose `coffer` finds this service.
    func run(_ command: [String], input: String = "") throws -> CommandResult {
        let user = Machine.serviceUser
        let identity = person == nil ? ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--"] : []
        return try machine.run(
            identity + command,
            as: person,
            environment: [
                "COFFER_SOCKET": packageSocket ?? (person == nil ? socketPath : "/run/user/1000/\(name).sock")
            ],
            input: Array(input.utf8)
        )
    }

    /// The vault's state, by its wire name.
    func state() throws -> String {
        let answer = try coffer("status", "--json")
        let status = try? JSONValue(parsing: Array(answer.text.utf8).span.bytes).objectValue
        return status?["state"]?.stringValue ?? answer.errors
    }

    /// The vault's state, as soon as it is as wanted, or after a minute.
    func settled(_ isWanted: (String) -> Bool) throws -> String {
        for _ in 0..<300 {
            let state = try state()
            if isWanted(state) { return state }
            usleep(200_000)
        }
        return try state()
    }

    /// Whether something comes true within a minute.
    func comes(_ condition: () throws -> Bool) throws -> Bool {
        for _ in 0..<300 {
            if try condition() { return true }
            usleep(200_000)
        }
        return false
    }

    /// Makes the vault, with the passcode of the tests.
    func makeVault() throws {
        let options = ["--kdf", "interactive", "--no-recovery-key", "--passcode-fd", "0"]
        let made = try run(["\(Machine.programs)/coffer", "init"] + options, input: DaemonProcess.passcode)
        try #require(made.status == 0, "\(made.errors)")
    }

    /// Unlocks with the passcode of the tests.
    func unlock() throws {
        let unlocked = try coffer("unlock", "--passcode-fd", "0", input: DaemonProcess.passcode)
        try #require(unlocked.status == 0, "\(unlocked.errors)")
    }

    /// Stores a secret in the keychain.
    func put(_ name: String, _ secret: String, _ accessibility: String) throws {
        let stored = try coffer("put", name, "--accessible", accessibility, input: secret)
        try #require(stored.status == 0, "\(stored.errors)")
    }

    /// The content of an item; `nil` where it is locked.
    func get(_ item: String) throws -> String? {
        let answer = try coffer("get", item)
        if answer.status == Self.lockedStatus { return nil }
        try #require(answer.status == 0, "\(answer.errors)")
        return answer.text
    }

    /// The exit status for what is locked.
    private static let lockedStatus: Int32 = 75
}
