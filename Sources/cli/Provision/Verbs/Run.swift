internal import ArgumentParser
internal import CofferClient
internal import CofferProcesses
internal import CofferCommandSupport
internal import CofferSystem
internal import Glibc

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a program with secrets.",
        discussion: """
            The program takes the place of coffer, without a shell: its signals, its exit code and the terminal are its own. It \
            is not started unless it gets all of the secrets. What follows the last # of NAME#FIELD is a field; a name with \
            a # needs another one at its end. One line end of a secret is left out in a variable, and kept in a file.
            """
    )

    @Option(
        name: .customLong("env"),
        help: ArgumentHelp("Set a variable to a secret; may be repeated.", valueName: "var=name[#field]"),
        completion: .assignedItemName
    )
    var variables: [String] = []

    @Option(
        name: .customLong("env-file"),
        help: ArgumentHelp(
            "Set the variables of a file, lines VAR=value; a value coffer://NAME[#FIELD] is a secret. May be repeated.",
            valueName: "file"
        ),
        completion: .file()
    )
    var variableFiles: [String] = []

    @Option(
        name: .customLong("file"),
        help: ArgumentHelp(
            "Set a variable to the path of a file in memory with a secret; may be repeated.",
            valueName: "var=name[#field]"
        ),
        completion: .assignedItemName
    )
    var files: [String] = []

    @Option(
        name: .customLong("stdin"),
        help: ArgumentHelp("Let the program read a secret from standard input.", valueName: "name[#field]"),
        completion: .itemName
    )
    var input: String?

    @Flag(help: "Mask the secrets in what the program prints.")
    var mask = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The program and its arguments, behind --.", valueName: "cmd")
    )
    var words: [String]

    func run() throws {
        let provisions = try Provisions(variables, variableFiles: variableFiles, files: files, input: input)
        let program = try StartedProgram(named: words[0])
        let secrets = try secrets(provisions)
        try secrets.inherit()
        // What was read from them does not concern the program.
        for number in [authentication.passcodeFd, authentication.applicationPasswordFd].compactMap(\.self)
        where number > STDERR_FILENO { OwnedDescriptor.closeOnExecute(number) }
        guard mask else { try program.start(with: secrets) }
        try program.runMasked(with: secrets).follow()
    }

    private func secrets(_ provisions: Provisions) throws(CofferError) -> ProvidedSecrets {
        let session = try authentication.connect()
        try waiting.untilReadable(provisions.items, in: access.group, session.client)
        return try ProvidedSecrets(provisions, SecretReader(session, in: access.group), isMasked: mask)
    }
}
