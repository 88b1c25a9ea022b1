package import CofferCore
internal import CofferProcesses
package import CofferSystem
internal import Glibc

/// A running pinentry, which shows one question, or what has an agent of systemd show it.
///
/// It never blocks its loop. It is killed if it still runs when the value ends.
package final class Pinentry {
    private let loop: EventLoop
    private let reply: (Reply) -> Void
    private let end: () -> Void
    private var tool: RunningTool
    private var buffer: AssuanBuffer
    private var dialogue: PinentryDialogue
    private var outputWatch: EventLoop.Watch?
    private var processWatch: EventLoop.Watch?
    private var timer: LoopTimer?
    private var hasReplied = false
    /// Whether its process has ended, so that another one can be shown.
    package private(set) var hasEnded = false

    /// Starts a pinentry.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - program: The pinentry; without a slash it is searched for in `$PATH`.
    ///   - screen: Where it shows itself; where there is none, systemd-ask-password asks for a passcode.
    ///   - loop: The loop; the caller must be on its thread.
    ///   - reply: Called once, later.
    ///   - end: Called once the process has ended, after the reply.
    package init(
        asking question: Question,
        by program: String,
        on screen: PinentryScreen,
        on loop: EventLoop,
        reply: @escaping (Reply) -> Void,
        end: @escaping () -> Void
    ) throws(CofferError) {
        self.loop = loop
        self.reply = reply
        self.end = end
        buffer = try AssuanBuffer()
        let asksAgents = !screen.isThere && question.kind == .passcode
        dialogue = try asksAgents ? PinentryDialogue() : PinentryDialogue(question, on: screen)
        tool = try asksAgents ? Self.agents(question) : Self.pinentry(program)
        do {
            outputWatch = try loop.watch(tool.output, for: .readable) { [unowned self] _ in receive() }
            processWatch = try loop.watch(tool.process, for: .readable) { [unowned self] _ in processDidEnd() }
            let timer = try LoopTimer(on: loop) { [unowned self] in timeIsOver() }
            // The pinentry itself has the first chance to end in time.
            let seconds = UInt64(clamping: question.timeoutSeconds).nearestProduct(1_000_000_000)
            timer.set(BootClock.system.now.nearestSum(seconds).nearestSum(Limits.pinentryPatienceNanoseconds))
            self.timer = timer
        } catch {
            throw error.cofferError("can't ask")
        }
    }

    deinit { unwatch() }

    private static func pinentry(_ program: String) throws(CofferError) -> RunningTool {
        do { return try RunningTool(conversingWith: program) } catch {
            let hint = "install a pinentry, such as pinentry-gnome3, pinentry-qt or pinentry-curses"
            throw PinentryError.missing(program, error.reason, hint: hint)
        }
    }

    /// Where there is no screen, an agent of systemd may know where a person is.
    private static func agents(_ question: Question) throws(CofferError) -> RunningTool {
        let program = "systemd-ask-password"
        let options = ["--no-tty", "--timeout=\(question.timeoutSeconds)", "--id=coffer", "--icon=dialog-password"]
        // In what agents read, a line has a meaning of its own.
        let text = [question.error, question.text, question.promptLabel].compactMap { $0?.forTerminal }
            .joined(separator: " ").split(whereSeparator: \.isNewline).joined(separator: " ")
        do { return try RunningTool(program, options + ["--", text]) } catch {
            let hint = "a pinentry needs a display, or a terminal that the variable GPG_TTY names"
            throw PinentryError.missing(program, error.reason, hint: hint)
        }
    }

    /// Ends it; the reply is that the question was refused.
    package func dismiss() { finish(.refused, SIGTERM) }

    private func unwatch() {
        if let outputWatch { loop.unwatch(outputWatch) }
        if let processWatch { loop.unwatch(processWatch) }
        timer?.invalidate()
    }

    /// Reads once, and answers each line.
    ///
    /// - Returns: Whether there may be more.
    @discardableResult private func receive() -> Bool {
        do throws(SystemError) {
            let count = try unsafe buffer.receive { (memory) throws(SystemError) in
                try unsafe tool.output.read(into: memory)
            }
            guard count > 0 else {
                finish(dialogue.replyToSilence, SIGTERM)
                return false
            }
            while !hasReplied, let move = unsafe buffer.next({ unsafe dialogue.move(after: $0) }) { try make(move) }
            if buffer.isFull { finish(.failed(PinentryError.broken("says too much")), SIGTERM) }
        } catch {
            if error.wouldBlock { return false }
            finish(dialogue.replyToSilence, SIGTERM)
        }
        return !hasReplied
    }

    private func make(_ move: PinentryDialogue.Move) throws(SystemError) {
        switch move {
        case .wait: break
        case .send(let line): try unsafe tool.write(Array("\(line)\n".utf8).span.bytes)
        case .end(let outcome):
            // It ends with its input.
            if case .failed = outcome { finish(outcome, SIGTERM) } else { finish(outcome, nil) }
        }
    }

    /// Replies, and has the process end, by a signal if it is not about to.
    private func finish(_ outcome: Reply, _ signal: Int32?) {
        guard !hasReplied else { return }
        hasReplied = true
        if let outputWatch { loop.unwatch(outputWatch) }
        tool.closeInput()
        // One on a terminal restores it then.
        if let signal { tool.send(signal) }
        timer?.set(BootClock.system.now.nearestSum(Limits.pinentryPatienceNanoseconds))
        reply(outcome)
    }

    private func timeIsOver() {
        if hasReplied { tool.send(SIGKILL) } else { finish(.refused, SIGTERM) }
    }

    private func processDidEnd() {
        // What it said last may still be in the pipe; what it leaves behind may say more.
        for _ in 0..<Limits.readsPerTurn where !hasReplied { if !receive() { break } }
        tool.reap()
        finish(dialogue.replyToSilence, nil)
        unwatch()
        hasEnded = true
        end()
    }
}
