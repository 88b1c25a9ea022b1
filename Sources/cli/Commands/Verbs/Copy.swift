internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCrypto
internal import CofferMemory
internal import CofferProcesses
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Copy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy a secret to the clipboard for a short time.",
        discussion: """
            It goes there by wl-copy, xclip or xsel, whichever suits the session, or with --osc52 by the terminal. After \
            the time of --for the clipboard is cleared, if the secret is still in it; a terminal can't be asked, so what \
            --osc52 has copied stays.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(help: "Copy the value of that field only.")
    var field: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Clear the clipboard after this time (default: 45s; 0s: never).", valueName: "time")
    )
    var duration: String?

    @Flag(help: "Have the terminal copy it, also over SSH.")
    var osc52 = false

    @OptionGroup var source: SourceOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    /// Reads what is to be copied.
    private func secret(_ name: ItemName) throws(CofferError) -> Secret {
        let group = try source.group()
        let session = try source.connect(authentication)
        try waiting.untilReadable(name, in: group, session.client)
        let stored = try session.secret(name, in: group)
        guard let field else { return try stored.formatted() }
        return try stored.value(of: field)
    }

    func validate() throws {
        try exclude(["--osc52": osc52], ["--for": duration != nil], because: "a terminal can't clear the clipboard")
    }

    func run() throws {
        let itemName = try ItemName(argument: name)
        let seconds = try seconds()
        let clipboard = try osc52 ? nil : Clipboard.found()
        let secret: Secret = try source.reading(itemName, authentication) { try self.secret(itemName) }
        guard secret.count > 0 else { throw CofferError(.param, "\(itemName.quoted) is empty, and nothing was copied") }
        if let clipboard {
            try clipboard.copy(secret)
            if seconds > 0 { try clipboard.clear(secret, after: seconds) }
        } else {
            try Self.copyByTerminal(secret)
        }
        report(itemName, clearedAfter: clipboard == nil || seconds == 0 ? nil : seconds)
    }

    private func seconds() throws(CofferError) -> Int64 {
        guard let duration else { return Limits.defaultClipboardSeconds }
        guard let seconds = Moment.seconds(duration), seconds <= 3600 else {
            throw CofferError(.param, "--for \(quotedForDisplay(duration)): expected a time up to 1h, such as 45s")
        }
        return seconds
    }

    private func report(_ name: ItemName, clearedAfter seconds: Int64?) {
        let end = seconds.map { ", and is cleared in \(durationForDisplay(seconds: Int($0)))" } ?? ", and stays there"
        let what = field.map { "the field \(quotedForDisplay($0)) of " } ?? ""
        let json: JSONObject = [
            "name": .string(name.path), "clearedAfter": seconds.map { .integer($0) } ?? .null,
        ]
        format.show(
            json,
            "\(what)\(name.quoted) is in the clipboard\(end)",
            to: format.json ? .standardOutput : .standardError
        )
    }

    /// Has the terminal copy it: the escape sequence OSC 52, in base64.
    private static func copyByTerminal(_ secret: Secret) throws(CofferError) {
        let terminal = try SecretInput.openTerminal(orElse: "leave out --osc52")
        let text: Secret
        do {
            text = try secret.withBytes { (bytes) throws(SecretMemoryError) in Secret(try Base64.encode(bytes)) }
        } catch { throw .noSecretMemory }
        let sequence = try Secret(capacity: text.count + 16) { (output) throws(CofferError) in
            output.append(Array("\u{1B}]52;c;".utf8))
            text.withBytes { output.append($0) }
            output.append([7])
        }
        try sequence.write(to: terminal.number, "the terminal")
    }
}

/// The program that gives access to the clipboard of the session.
struct Clipboard {
    private struct Tool {
        let name: String
        let variable: String
        let copy: [String]
        let paste: (program: String, arguments: [String])
        let clear: [String]
    }

    private static let tools = [
        Tool(
            name: "wl-copy",
            variable: "WAYLAND_DISPLAY",
            copy: ["--type", "text/plain;charset=utf-8"],
            paste: ("wl-paste", ["--no-newline"]),
            clear: ["--clear"]
        ),
        Tool(
            name: "xclip",
            variable: "DISPLAY",
            copy: ["-selection", "clipboard", "-in"],
            paste: ("xclip", ["-selection", "clipboard", "-out"]),
            clear: ["-selection", "clipboard", "-in"]
        ),
        Tool(
            name: "xsel",
            variable: "DISPLAY",
            copy: ["--clipboard", "--input"],
            paste: ("xsel", ["--clipboard", "--output"]),
            clear: ["--clipboard", "--clear"]
        ),
    ]

    private let tool: Tool

    /// The first program that is installed and suits the session.
    static func found() throws(CofferError) -> Clipboard {
        for tool in tools where environment(tool.variable) != nil && Program.path(tool.name) != nil {
            return Clipboard(tool: tool)
        }
        throw CofferError(
            .notAvailable,
            "there is no clipboard: no wl-copy in a session of Wayland, and no xclip or xsel in one of X11",
            hint: "install wl-clipboard or xclip, or give --osc52, if the terminal can copy"
        )
    }

    /// The program of that name.
    init?(named name: String) {
        guard let tool = Self.tools.first(where: { $0.name == name }) else { return nil }
        self.tool = tool
    }

    private init(tool: Tool) { self.tool = tool }

    /// Copies a secret, with a mark for managers of the clipboard if the program can set it.
    func copy(_ secret: Secret) throws(CofferError) {
        let mark = canMark ? ["--sensitive"] : []
        try secret.withBytes { (bytes) throws(CofferError) in try run(mark + tool.copy, reading: bytes) }
    }

    private func run(_ arguments: [String], reading bytes: RawSpan) throws(CofferError) {
        do throws(SystemError) {
            if try ChildProcess(tool.name, arguments, reading: bytes).wait() { return }
        } catch {
            throw error.cofferError("can't run \(tool.name)")
        }
        throw CofferError(.io, "\(tool.name) has failed, and nothing was copied", hint: "run it by hand to see why")
    }

    /// Whether the program can mark its content as a secret.
    private var canMark: Bool {
        guard tool.name == "wl-copy" else { return false }
        var help = [UInt8](repeating: 0, count: 16 << 10)
        let count = unsafe help.withUnsafeMutableBytes { buffer in
            unsafe (try? CofferProcesses.Tool.run(tool.name, ["--help"], into: buffer))?.count
        }
        return count.map { String(decoding: help.prefix($0), as: UTF8.self).contains("--sensitive") } ?? false
    }

    // MARK: Clearing

    /// Starts a process that clears the clipboard later, if the secret is still in it.
    ///
    /// It gets a hash under a random key, and not the secret.
    func clear(_ secret: Secret, after seconds: Int64) throws(CofferError) {
        do {
            let key = try SymmetricKey()
            let tag = try secret.withBytes { (bytes) throws(CryptoError) in try Self.tag(of: bytes, under: key) }
            var message = try SecretBytes(zeros: 2 * SymmetricKey.byteCount)
            key.bytes.withBytes { message.copy($0, to: 0) }
            tag.bytes.withBytes { message.copy($0, to: SymmetricKey.byteCount) }
            _ = try message.withBytes { (bytes) throws(SystemError) in
                try ChildProcess(
                    "/proc/self/exe",
                    [ClearClipboard.name, tool.name, "\(seconds)"],
                    reading: bytes
                )
            }
        } catch {
            throw CofferError(
                .io,
                "the secret is in the clipboard, and can't be cleared later",
                hint: "clear it by hand"
            )
        }
    }

    /// Clears the clipboard, if what is in it has that tag.
    func clear(ifTagged tag: borrowing SymmetricKey, under key: borrowing SymmetricKey) throws(CofferError) {
        do {
            // One byte more than a secret has, and than fits, is not the secret.
            var content = try SecretBytes(zeros: Limits.secretBytes + 1)
            let count = try unsafe content.withUnsafeMutableBytes { (buffer) throws(SystemError) in
                unsafe try CofferProcesses.Tool.run(tool.paste.program, tool.paste.arguments, into: buffer).count
            }
            content.truncate(to: count)
            let found = try content.withBytes { (bytes) throws(CryptoError) in try Self.tag(of: bytes, under: key) }
            guard found.bytes.isEqual(to: tag.bytes) else { return }
        } catch {
            return
        }
        try run(tool.clear, reading: RawSpan())
    }

    private static func tag(of bytes: RawSpan, under key: borrowing SymmetricKey) throws(CryptoError) -> SymmetricKey {
        try KeyedHash.key(under: key, for: "clipboard", bytes, [])
    }
}

/// The process that clears the clipboard; `copy` starts it.
struct ClearClipboard: ParsableCommand {
    static let name = "clear-clipboard"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Clear the clipboard after a time, if it is unchanged.",
        shouldDisplay: false
    )

    @Argument var tool: String
    @Argument var seconds: UInt32

    func run() throws {
        // A session of its own: it outlives the terminal.
        setsid()
        let message = try SecretInput.readAll(from: STDIN_FILENO, limit: 2 * SymmetricKey.byteCount, "the tag")
        guard let clipboard = Clipboard(named: tool), message.count == 2 * SymmetricKey.byteCount else {
            throw CofferError(.param, "'coffer copy' starts this")
        }
        let key = SymmetricKey(try Self.half(message, at: 0))
        let tag = SymmetricKey(try Self.half(message, at: SymmetricKey.byteCount))
        var left = seconds
        while left > 0 { left = sleep(left) }
        guard let key, let tag else { return }
        try clipboard.clear(ifTagged: tag, under: key)
    }

    private static func half(_ message: borrowing SecretBytes, at place: Int) throws -> SecretBytes {
        try message.withBytes { try SecretBytes(copying: $0.extracting(place..<(place + SymmetricKey.byteCount))) }
    }
}
