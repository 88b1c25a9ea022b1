internal import CofferClient
package import CofferCore
internal import CofferMemory

/// What is said to a pinentry, line by line, and what its answers mean.
package struct PinentryDialogue: ~Copyable {
    /// What follows a line of the pinentry.
    package enum Move: Sendable {
        case wait
        /// A line is sent, without its end.
        case send(String)
        case end(Reply)
    }

    private struct Command {
        let line: String
        /// Whether a pinentry may refuse it: not each knows all options.
        let isOptional: Bool
    }

    private let kind: Question.Kind
    /// Whether the answer is a line as it was typed, and nothing is said before.
    private let isPlain: Bool
    private let commands: [Command]
    /// How many of them were sent; `nil` before the greeting.
    private var sentCount: Int?
    private var passcode: SecretBytes
    private var passcodeCount = 0

    package init(_ question: Question, on screen: PinentryScreen) throws(CofferError) {
        try self.init(question.kind, isPlain: false, Self.commands(question, screen))
    }

    /// The dialogue with a program that was told what to ask, and prints the passcode in a line.
    package init() throws(CofferError) { try self.init(.passcode, isPlain: true, []) }

    private init(_ kind: Question.Kind, isPlain: Bool, _ commands: [Command]) throws(CofferError) {
        self.kind = kind
        self.isPlain = isPlain
        self.commands = commands
        do { passcode = try SecretBytes(zeros: Limits.passcodeBytes) } catch { throw .noSecretMemory }
    }

    private static func commands(_ question: Question, _ screen: PinentryScreen) -> [Command] {
        var options = ["OPTION no-grab"] + screen.options
        if let option = question.windowID.flatMap(PinentryScreen.option(forWindow:)) { options.append(option) }
        // Without a key, no pinentry offers to keep the passcode.
        options += ["SETKEYINFO --clear", "SETTIMEOUT \(question.timeoutSeconds)"]
        var texts = [("SETTITLE", question.title), ("SETDESC", question.text)]
        if let error = question.error { texts.append(("SETERROR", error)) }
        switch question.kind {
        case .passcode: texts += [("SETPROMPT", question.promptLabel), ("SETOK", "OK"), ("SETCANCEL", "Cancel")]
        case .confirmation: texts += [("SETOK", "Allow"), ("SETCANCEL", "Refuse")]
        }
        return options.map { Command(line: $0, isOptional: true) }
            + texts.map { Command(line: AssuanText.command($0.0, $0.1), isOptional: false) }
            + [Command(line: question.kind == .passcode ? "GETPIN" : "CONFIRM", isOptional: false)]
    }

    /// Whether the pinentry has the whole question, and the person is asked.
    private var isAsking: Bool { sentCount == commands.count }

    /// What follows a line of the pinentry.
    ///
    /// - Parameter line: The line, without its end; what it has of a passcode is decoded there.
    package mutating func move(after line: UnsafeMutableRawBufferPointer) -> Move {
        if isPlain {
            if let end = unsafe take(line) { return end }
            return finish()
        }
        return switch unsafe AssuanLine(UnsafeRawBufferPointer(line)) {
        case .ok: isAsking ? finish() : next()
        case .failure(let code, let text): refuse(code, text)
        case .data: unsafe append(UnsafeMutableRawBufferPointer(rebasing: line[2...]))
        case .aside: .wait
        case .other: .end(.failed(PinentryError.broken("says what is not understood")))
        }
    }

    /// What the end of a program means that has not answered.
    package var replyToSilence: Reply {
        isPlain ? .refused : .failed(PinentryError.broken("has ended without an answer"))
    }

    private mutating func next() -> Move {
        let place = sentCount ?? 0
        sentCount = place + 1
        return .send(commands[place].line)
    }

    private mutating func refuse(_ code: Int, _ text: String) -> Move {
        // The code of libgpg-error, without the source of the error: time is over, cancelled, not confirmed, cancelled
        // for good.
        if isAsking && [62, 99, 114, 198].contains(code & 0xFFFF) { return .end(.refused) }
        if let sentCount, sentCount > 0, commands[sentCount - 1].isOptional { return next() }
        return .end(.failed(PinentryError.broken("says \(quotedForDisplay(text))")))
    }

    private mutating func append(_ data: UnsafeMutableRawBufferPointer) -> Move {
        guard isAsking, kind == .passcode, let count = unsafe AssuanText.decode(data) else {
            return .end(.failed(PinentryError.broken("says what is not understood")))
        }
        return unsafe take(UnsafeMutableRawBufferPointer(rebasing: data[..<count])) ?? .wait
    }

    /// Takes a part of the passcode.
    ///
    /// - Returns: `nil` if there is room for it.
    private mutating func take(_ part: UnsafeMutableRawBufferPointer) -> Move? {
        guard passcodeCount + part.count <= passcode.count else {
            return .end(.failed(CofferError(.param, "more than \(Limits.passcodeBytes) bytes were typed")))
        }
        unsafe passcode.copy(UnsafeRawBufferPointer(part).bytes, to: passcodeCount)
        passcodeCount += part.count
        return nil
    }

    private mutating func finish() -> Move {
        guard kind == .passcode else { return .end(.confirmed) }
        passcode.truncate(to: passcodeCount)
        // The passcode changes its owner, and is not copied.
        var taken: SecretBytes
        do { taken = try SecretBytes(zeros: 0) } catch { return .end(.failed(.noSecretMemory)) }
        swap(&taken, &passcode)
        return .end(.secret(Secret(taken)))
    }
}

/// The errors of a pinentry that can't ask.
enum PinentryError {
    /// - Parameter finding: What it does.
    static func broken(_ finding: String) -> CofferError {
        CofferError(
            .notAvailable,
            "can't ask: the pinentry \(finding)",
            hint: "it needs a display, or a terminal that the variable GPG_TTY names"
        )
    }

    /// The error if the program can't be started.
    ///
    /// - Parameter hint: What helps.
    static func missing(_ program: String, _ reason: String, hint: String) -> CofferError {
        CofferError(
            .notAvailable,
            "can't ask: \(quotedForDisplay(program)) can't be started: \(reason)",
            hint: hint
        )
    }
}
