internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory
internal import CofferProcesses
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Otp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "otp",
        abstract: "Print a one-time code, or store the key that makes them.",
        discussion: "'coffer otp NAME' prints the code that NAME has now.",
        subcommands: [OneTimeCode.self, AddOneTimeKey.self],
        defaultSubcommand: OneTimeCode.self
    )
}

struct OneTimeCode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code",
        abstract: "Print the one-time code of an item.",
        discussion: """
            The key is an address otpauth://totp/… or otpauth://hotp/…: the secret itself, a line of it, or its field \
            otp or totp. On a terminal, standard error says for how many seconds the code is valid. A code that is \
            counted is printed once its next counter is stored.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(help: ArgumentHelp("The code of that time, in seconds since 1970, instead of now.", valueName: "seconds"))
    var at: Int64?

    @OptionGroup var access: GroupOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let session = try authentication.connect()
        try waiting.untilReadable(itemName, in: access.group, session.client)
        let stored = try session.secret(itemName, in: access.group)
        let address = try stored.oneTimeAddress()
        let key = try OneTimeKey(uri: address)
        if let counter = key.counter { return try printCounted(key, counter, of: stored, address, session) }
        let now = at ?? Int64(time(nil))
        let left = key.period - max(0, now) % key.period
        let code = try key.code(at: now)
        try Output.standardOutput.line(code)
        if Output.standardError.isTerminal { Output.standardError.line("valid for \(left) s") }
    }

    /// Prints the code of the counter, once the next counter is stored: no code is shown twice.
    private func printCounted(
        _ key: OneTimeKey,
        _ counter: UInt64,
        of stored: StoredSecret,
        _ address: Secret,
        _ session: Session
    ) throws(CofferError) {
        guard at == nil else {
            throw CofferError(
                .param,
                "--at can't be used: the codes of \(quotedForDisplay(name)) are counted, and have no time"
            )
        }
        let code = try key.code(at: 0)
        let own = try OneTimeKey.address(of: address, label: name) ?? address
        let next = try OneTimeKey.address(own, counter: counter + 1)
        if let content = try OneTimeKey.content(stored.content, replacingLineBy: next) {
            try session.replace(stored, with: content)
        } else {
            let field = OneTimeKey.field(in: stored.content) ?? OneTimeKey.fields[0]
            _ = try session.setField(field, of: stored, to: next)
        }
        try Output.standardOutput.line(code)
    }
}

struct AddOneTimeKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Store the key of one-time codes.",
        discussion: """
            It is an address otpauth://…, which a site shows as a QR code, or the key alone, which it shows below: from \
            standard input, a prompt on a terminal, a descriptor, or a picture, which zbarimg(1) reads. It becomes the field otp of the secret that is \
            stored there, or a secret of its own.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(help: ArgumentHelp("Read the address from this descriptor.", valueName: "number"))
    var uriFd: Int32?

    @Option(help: ArgumentHelp("Read the QR code in this picture.", valueName: "file"), completion: .file())
    var qr: String?

    @Flag(help: "Replace the key that is stored there.")
    var replace = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(["--qr": qr != nil], ["--uri-fd": uriFd != nil])
    }

    func run() throws {
        let itemName = try ItemName(argument: name)
        let given = try authentication.readGiven()
        let text = try text()
        // It has to make codes before it is stored.
        _ = try OneTimeKey(uri: text).code(at: 0)
        let address = try OneTimeKey.address(of: text, label: itemName.path) ?? text
        let session = try authentication.connect(with: given)
        guard let stored = try session.secretIfPresent(itemName, in: access.group) else {
            try session.create(itemName, address, PlacementOptions(newSecretIn: access.group))
            return format.show(StoredReport(name: itemName))
        }
        let hasKey = (try? stored.oneTimeAddress()) != nil
        guard !hasKey || replace else {
            throw CofferError.exists("a key of one-time codes of \(itemName.quoted)", hint: "--replace replaces it")
        }
        if stored.isOneTimeAddress {
            try session.replace(stored, with: address)
            return format.show(StoredReport(name: itemName, isReplaced: true))
        }
        let names = SecretFields(stored.content)?.names ?? []
        let field = OneTimeKey.fields.first { names.contains($0) } ?? OneTimeKey.fields[0]
        format.show(try session.setField(field, of: stored, to: address))
    }

    private func text() throws(CofferError) -> Secret {
        if let qr { return try Self.scan(qr) }
        if uriFd == nil && isTypedInput {
            return Secret(try SecretInput.ask("Address (otpauth://totp/…): ", limit: Limits.otpAddressBytes))
        }
        let bytes = try SecretInput.readAll(from: uriFd ?? STDIN_FILENO, limit: Limits.otpAddressBytes, "the address")
        return try Secret(bytes).withoutLineEnd()
    }

    /// Reads a picture by `zbarimg`.
    private static func scan(_ picture: String) throws(CofferError) -> Secret {
        guard let tool = Program.path("zbarimg") else {
            throw CofferError(
                .notAvailable,
                "can't read the QR code: zbarimg is not installed",
                hint: "install the package zbar-tools, or give the address that the code has by --uri-fd"
            )
        }
        // So that the tool says nothing of a file that is missing.
        _ = try SecretInput.open(picture)
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: Limits.otpAddressBytes) } catch { throw .noSecretMemory }
        let path = picture.hasPrefix("/") ? picture : "./\(picture)"
        let outcome: Tool.Outcome
        do {
            outcome = try unsafe bytes.withUnsafeMutableBytes { (buffer) throws(SystemError) in
                unsafe try Tool.run(tool, ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", path], into: buffer)
            }
        } catch {
            throw error.cofferError("can't read the QR code")
        }
        guard outcome.isSuccess, outcome.count > 0 else {
            throw CofferError(.param, "there is no QR code in \(quotedForDisplay(picture))")
        }
        bytes.truncate(to: outcome.count)
        return try Secret(bytes).withoutLineEnd()
    }
}
