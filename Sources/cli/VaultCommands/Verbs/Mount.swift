internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferProcesses
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Mount: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount",
        abstract: "Let every program open the files of the vault, in a directory.",
        discussion: """
            It returns when the files are there, and 'coffer umount' ends it. A file's class is its attribute \
            user.coffer.class. While the vault is locked, files of class complete can't be opened or read. It says when new \
            files can be read.
            """
    )

    @Argument(help: "An empty directory of yours.", completion: .directory)
    var directory: String

    @Option(help: ArgumentHelp("Mount this directory of the vault only.", valueName: "prefix"), completion: .itemName)
    var path: String?

    @Flag(help: "Refuse every change.")
    var readOnly = false

    @Flag(help: "Do not return before it is unmounted.")
    var foreground = false

    @Option(help: ArgumentHelp("How long programs wait for a daemon that is away (default: 10).", valueName: "seconds"))
    var wait: SecondsArgument?

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let name = try path.map { try ItemName(argument: $0) }
        let client = try connection.connect()
        try client.status().requireVault()
        guard let socketPath = client.socketPath else { return }
        let program = InstalledProgram.path(of: "coffer-mount")
        let words = [directory, "--socket", socketPath] + options(name)
        if foreground { try replace(by: program, words) }
        try start(program, words)
        if !readOnly { try reportClass(name, client) }
    }

    /// Reports when new files can be read: a file whose program says nothing may stay readable while the vault is locked.
    private func reportClass(_ name: ItemName?, _ client: BlockingClient) throws {
        var wishes = PlacementOptions()
        (wishes.group, wishes.store) = (access.group, .file)
        let inside = try name.map { try ItemName("\($0.path)/new") }
        let params = ItemExplainParameters(name: inside, byteCount: Limits.fileBytes, wishes: wishes)
        guard let placement = try? client.call(params).value.placement else { return }
        let words = placement.protection.words
        Output.standardError.line("new files are readable \(words), unless their directory says otherwise")
    }

    private func options(_ name: ItemName?) -> [String] {
        let flags = (readOnly ? ["--read-only"] : []) + (foreground ? ["--foreground"] : [])
        let pairs = [("--path", name?.path), ("--group", access.group), ("--wait", wait.map { "\($0.count)" })]
        return flags + pairs.flatMap { option, value in value.map { [option, $0] } ?? [] }
    }

    private func start(_ program: String, _ words: [String]) throws {
        let failure: (status: Int32, words: String)?
        do { failure = try Tool.startInBackground(program, words) } catch { throw Self.cannotStart(error) }
        guard let failure else { return }
        for line in failure.words.split(whereSeparator: \.isNewline) { Output.standardError.line("\(line)") }
        throw ExitStatus(rawValue: failure.status) ?? .io
    }

    private func replace(by program: String, _ words: [String]) throws {
        do {
            let file = try ProgramFile(program, in: environment("PATH"))
            var arguments = unsafe ([program] + words).map { unsafe strdup($0) } + [nil]
            throw unsafe file.execute(&arguments, InheritedEnvironment.variables(except: []) + [nil])
        } catch let error as SystemError {
            throw Self.cannotStart(error)
        }
    }

    private static func cannotStart(_ error: SystemError) -> CofferError {
        CofferError(.io, "can't start coffer-mount: \(error.reason)", hint: "install the package coffer-mount")
    }
}
