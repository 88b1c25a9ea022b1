internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct SSHAgent: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssh-agent",
        abstract: "Serve the keys of the vault to SSH, or import one.",
        subcommands: [ServeSSHAgent.self, SetupSSHAgent.self, ImportSSHKey.self],
        defaultSubcommand: ServeSSHAgent.self
    )
}

struct ServeSSHAgent: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the keys of the vault to SSH, until it is ended.",
        discussion: """
            It listens at the socket that the service manager passes, or at --listen, and prints the line that a shell needs. \
            Private keys never leave the daemon, and a key that is locked is listed and does not sign.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Listen at this path (default: ssh-agent.sock beside the daemon's socket).",
            valueName: "path"
        ),
        completion: .file()
    )
    var listen: String?

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        do { try ProcessHardening.apply() } catch { throw error.cofferError("can't protect the memory") }
        let agent = Agent(connection)
        if let socket = try AgentSocket.passed() { try AgentServer(socket, agent).run() }
        let path = try path()
        let socket = try AgentSocket.listening(at: path)
        Output.standardOutput.line("SSH_AUTH_SOCK=\(name: path); export SSH_AUTH_SOCK;")
        try AgentServer(socket, agent).run()
    }

    private func path() throws(CofferError) -> String {
        if let listen { return listen }
        guard let folder = ServiceManager.ownDirectory else {
            throw CofferError(
                .param,
                "no path to listen at: you have no runtime directory of your own",
                hint: "give --listen PATH"
            )
        }
        // The daemon, which has its socket there, may not have run yet.
        unsafe mkdir("\(folder)/coffer", 0o700)
        return "\(folder)/coffer/ssh-agent.sock"
    }
}

struct ImportSSHKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Keep a private key of SSH in the vault, and offer it.",
        discussion: """
            FILE is what ssh-keygen writes; of an encrypted one, the passphrase is asked for. It stays as it is: remove it \
            when a login has worked. Prints the reference of the item.
            """
    )

    @Argument(help: ArgumentHelp("The file with the private key.", valueName: "file"), completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The label (default: the comment of the key, or the file's name).", valueName: "name"))
    var name: String?

    @Option(help: "When the key can be used.")
    var accessible: Accessibility?

    @Flag(help: "Have a person confirm each use, by the program of SSH_ASKPASS, or a pinentry.")
    var confirm = false

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let input = try SecretInput.content(of: file, prompt: "Key: ", limit: Limits.secretBytes)
        let key = try KeyInput(from: input, passphrase: { () throws(CofferError) in try passphrase.read() })
        let publicKey = try key.sshPublicKey()
        let comment = key.comment.flatMap { $0.isEmpty ? nil : $0 }
        let label = name ?? comment ?? String(file.split(separator: "/").last ?? "key")
        let confirmed = [AgentAttribute.confirmed.name: AgentAttribute.confirmed.value]
        let reference = try AgentKeys(connection.connect()).store(
            key,
            publicKey,
            label: label,
            comment: comment ?? label,
            accessibility: accessible,
            user: confirm ? confirmed : [:]
        )
        let json: JSONObject = [
            "reference": .string(reference.hexadecimal), "label": .string(label),
            "publicKey": .string(publicKey.text), "fingerprint": .string(publicKey.fingerprint),
        ]
        format.show(json, "\(reference.hexadecimal)  \(publicKey.fingerprint)  \(name: label)")
    }
}
