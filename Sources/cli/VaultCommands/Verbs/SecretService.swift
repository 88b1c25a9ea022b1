internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct SecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service",
        abstract: "Have the programs of your desktop keep their passwords in your vault.",
        discussion: "Programs find the Secret Service by its name on the session's bus, \(SecretServiceName.text).",
        subcommands: [EnableSecretService.self, DisableSecretService.self, ShowSecretService.self]
    )
}

struct EnableSecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Have the session's bus start the Secret Service of Coffer.",
        discussion: """
            Writes a file of yours, by which the bus starts it instead of that of the desktop. A program that has the name \
            already keeps it until it ends.
            """
    )

    @OptionGroup var format: FormatOptions

    func run() throws {
        // Without a bus, nothing is changed.
        _ = try SecretServiceName.owner()
        let file = try ActivationFile()
        try file.write()
        format.say("wrote \(name: file.path)")
        try SecretServiceName.reload()
        let report = try SecretServiceReport()
        format.show(report)
        guard let owner = report.owner, !owner.isOurs else { return }
        Output.warn(["that process keeps the name until it ends: log out and in, or \(owner.ending)"])
    }
}

struct DisableSecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Undo that: programs use the Secret Service of the desktop again.",
        discussion: "What they have stored in the vault stays there."
    )

    @OptionGroup var format: FormatOptions

    func run() throws {
        _ = try SecretServiceName.owner()
        let file = try ActivationFile()
        format.say(try file.remove() ? "removed \(name: file.path)" : "it was not enabled")
        try SecretServiceName.reload()
        // It does not matter where it does not run.
        _ = ServiceManager.user.control("stop", SecretServiceName.unit)
        let report = try SecretServiceReport()
        format.show(report)
        guard let owner = report.owner, owner.isOurs else { return }
        Output.warn(["that process keeps the name until it ends: log out and in, or \(owner.ending)"])
    }
}

struct ShowSecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether it is enabled, and which program serves secrets now."
    )

    @OptionGroup var format: FormatOptions

    func run() throws { format.show(try SecretServiceReport()) }
}

/// The program that serves secrets, or the one that the bus would start.
private struct SecretServiceReport: Printable {
    let file: ActivationFile
    /// Whether this program wrote the file; `nil` if there is no file.
    let isOurs: Bool?
    let owner: SecretServiceOwner?
    /// The program that the bus would start; `nil` as well while the name has an owner.
    let started: String?

    init() throws(CofferError) {
        owner = try SecretServiceName.owner()
        file = try ActivationFile()
        isOurs = try file.isOurs()
        started = owner == nil ? ActivationFile.startedProgram() : nil
    }

    var json: JSONObject {
        var object: JSONObject = ["enabled": .bool(isOurs == true), "path": .string(file.path)]
        if let owner {
            var process: JSONObject = ["pid": .integer(owner.processID), "isCoffer": .bool(owner.isOurs)]
            if let program = owner.program { process.set("program", .string(program)) }
            object.set("owner", .object(process))
        }
        if let started {
            object.set(
                "started",
                ["program": .string(started), "isCoffer": .bool(SecretServiceName.isOurs(started))]
            )
        }
        return object
    }

    var text: [Line] {
        let enabled: Line =
            switch isOurs {
            case true?: "yes, by \(name: file.path)"
            case false?: "no: \(name: file.path) is not of Coffer"
            case nil: "no"
            }
        return [Line](width: 9, [("enabled", enabled), ("secrets", secrets)])
    }

    private var secrets: Line {
        guard let owner else {
            return started.map { "whoever asks first starts \(Self.named($0))" } ?? "no program serves them"
        }
        let program = owner.program.map(Self.named) ?? "a program that is not visible"
        return "served by \(program), process \(owner.processID)"
    }

    private static func named(_ program: String) -> Line {
        "\(name: program)\(SecretServiceName.isOurs(program) ? ", of Coffer" : "")"
    }
}
