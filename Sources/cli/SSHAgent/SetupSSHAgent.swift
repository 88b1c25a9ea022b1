internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct SetupSSHAgent: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Have your sessions use the agent of your vault.",
        discussion: """
            Enables and starts the agent's socket in your service manager, and has SSH_AUTH_SOCK name it, in what is started \
            from now on and in each later session. An entitlement lets the agent use the keys of your vault, and no other item. \
            Prints the line that a shell needs: eval "$(coffer ssh-agent setup)" \
            has the shell use it at once.
            """
    )

    private static let unit = "coffer-ssh-agent.socket"
    /// What the agent may do: without it, it would be a service like any other, which sees only what it has stored.
    private static let entitlement = """
        ; Written by 'coffer ssh-agent setup'; with --remove, it takes this away.
        [Client]
        UserUnit=coffer-ssh-agent.service
        Groups=default
        Verbs=read write delete
        Class=key

        """

    @Flag(help: "Undo that: sessions use the agent that they used before.")
    var remove = false

    func run() throws {
        guard ServiceManager.isUsersRunning, let folder = ServiceManager.ownDirectory else {
            throw CofferError(
                .notAvailable,
                "there is no service manager of yours, which would start the agent",
                hint: "start 'coffer ssh-agent &', and evaluate the line that it prints"
            )
        }
        let path = "\(folder)/coffer/ssh-agent.sock"
        try remove ? undo() : setUp(path)
    }

    private func setUp(_ path: String) throws(CofferError) {
        guard ServiceManager.user.control("enable", "--now", Self.unit) else {
            throw CofferError(
                .notAvailable,
                "your service manager can't start \(Self.unit)",
                hint: "'systemctl --user status \(Self.unit)' says why"
            )
        }
        try Self.make(Self.folders(of: Self.entitlementPath))
        let entitlement = try OutputFile(try Self.configured(Self.entitlementPath))
        try entitlement.write(Self.entitlement)
        try entitlement.finish()
        // A daemon that does not run reads it when it starts.
        _ = ServiceManager.user.control("reload", "cofferd.service")
        try Self.make(Self.folders(of: Self.environmentPath))
        let file = try Self.configured(Self.environmentPath)
        let output = try OutputFile(file)
        try output.write("# Written by 'coffer ssh-agent setup'; with --remove, it takes this away.\n")
        try output.write("SSH_AUTH_SOCK=${XDG_RUNTIME_DIR}/coffer/ssh-agent.sock\n")
        try output.finish()
        _ = ServiceManager.user.control("set-environment", "SSH_AUTH_SOCK=\(path)")
        Output.standardError.line("programs find the agent by \(name: file) from the next login on")
        Output.standardOutput.line("SSH_AUTH_SOCK=\(name: path); export SSH_AUTH_SOCK;")
    }

    private func undo() throws(CofferError) {
        for path in [Self.environmentPath, Self.entitlementPath] {
            let file = try Self.configured(path)
            guard unsafe unlink(file) == 0 || errno == ENOENT else {
                throw SystemError("unlink").cofferError("can't remove \(quotedForDisplay(file))")
            }
        }
        _ = ServiceManager.user.control("reload", "cofferd.service")
        // Neither matters where there is nothing to undo.
        _ = ServiceManager.user.control("disable", "--now", Self.unit)
        _ = ServiceManager.user.control("unset-environment", "SSH_AUTH_SOCK")
        Output.standardOutput.line("unset SSH_AUTH_SOCK;")
    }

    /// The file by which later sessions find the agent, below the directory of the user's configuration.
    private static let environmentPath = ["environment.d", "60-coffer-ssh-agent.conf"]
    private static let entitlementPath = ["coffer", "entitlements.d", "ssh-agent.conf"]

    private static func configured(_ path: [String]) throws(CofferError) -> String {
        guard let home = configurationHome else {
            throw CofferError(
                .param,
                "neither XDG_CONFIG_HOME nor HOME is set",
                hint: "set HOME to your home directory"
            )
        }
        return ([home] + path).joined(separator: "/")
    }

    /// The directories that a file is in, the outermost first.
    private static func folders(of path: [String]) throws(CofferError) -> [String] {
        try path.indices.map { (index) throws(CofferError) in try configured(Array(path[..<index])) }
    }

    private static func make(_ folders: [String]) throws(CofferError) {
        for folder in folders where unsafe mkdir(folder, 0o700) != 0 && errno != EEXIST {
            throw SystemError("mkdir").cofferError("can't make \(quotedForDisplay(folder))")
        }
    }
}
