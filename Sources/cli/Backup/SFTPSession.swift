internal import CofferCore
internal import CofferProcesses
internal import CofferSystem
internal import Glibc

/// A running `sftp`, which gets one command after another.
///
/// It is the user's own, so that ssh's configuration, keys and agent are used. It never prompts.
final class SFTPSession {
    /// What a command did.
    struct Answer {
        let lines: [String]
        /// What was written to standard error; empty if it succeeded.
        let errors: String
        let hasEnded: Bool
    }

    private static let marker = "Remote working directory: "

    private let process: ChildProcess
    /// The seconds without any progress after which the server counts as silent.
    private let patience: Int64
    private var input: OwnedDescriptor?
    private let output: OwnedDescriptor
    private let errors: OwnedDescriptor
    /// The bytes of its standard error that were read.
    private var errorOffset: Int64 = 0
    private var pending: [UInt8] = []

    /// Starts it.
    ///
    /// - Parameters:
    ///   - connecting: The options that say whereto.
    ///   - patience: The seconds without any progress after which the server counts as silent.
    init(connecting: [String], patience: Int64) throws(SystemError) {
        self.patience = patience
        let memory = try AnonymousMemory("sftp")
        errors = try OwnedDescriptor("fcntl") { fcntl(memory.number, F_DUPFD_CLOEXEC, 3) }
        var ends: [Int32] = [-1, -1, -1, -1]
        // The program gets only its standard streams, so that no end needs close-on-exec.
        for first in [0, 2] {
            _ = try retrying("pipe") {
                unsafe ends.withUnsafeMutableBufferPointer { unsafe pipe($0.baseAddress.map { unsafe $0 + first }) }
            }
        }
        let childInput = OwnedDescriptor(owning: ends[0])
        input = OwnedDescriptor(owning: ends[1])
        output = OwnedDescriptor(owning: ends[2])
        let childOutput = OwnedDescriptor(owning: ends[3])
        process = try ChildProcess(
            "sftp",
            ["-q", "-b", "-"] + connecting,
            input: childInput.number,
            output: childOutput.number,
            errors: errors.number
        )
    }

    deinit {
        // It ends with its input, unless the server is silent.
        input = nil
        if isSilent { process.end() }
        _ = try? process.wait()
    }

    private var isSilent = false

    /// Waits until there is something to read.
    ///
    /// A large object is transferred without a word, so the bytes that the program itself reads count as progress.
    ///
    /// - Throws: `ETIMEDOUT` if neither has happened for long.
    private func waitForProgress() throws(SystemError) {
        var readBytes = process.readByteCount
        // Counted in turns: a clock would count the time in which the machine was suspended.
        var silentTurns: Int64 = 0
        while silentTurns < patience {
            var entry = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
            let count = try retrying("poll") { unsafe poll(&entry, 1, Limits.sftpTurnMilliseconds) }
            if count > 0 { return }
            let now = process.readByteCount
            silentTurns = now == readBytes ? silentTurns + 1 : 0
            readBytes = now
        }
        isSilent = true
        throw SystemError("read", code: ETIMEDOUT)
    }

    /// Runs a command to its end; its failure does not end the program.
    func run(_ command: String) throws(SystemError) -> Answer {
        do throws(SystemError) {
            try unsafe input?.write(all: Array("-\(command)\npwd\n".utf8).span.bytes)
        } catch  where error.code == EPIPE {}
        var lines: [String] = []
        while let line = try nextLine() {
            if line.hasPrefix(Self.marker) { return Answer(lines: lines, errors: try newErrors(), hasEnded: false) }
            if !line.hasPrefix("sftp> ") { lines.append(line) }
        }
        return Answer(lines: lines, errors: try newErrors(), hasEnded: true)
    }

    private func nextLine() throws(SystemError) -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeFirst(end + 1) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            try waitForProgress()
            var buffer = [UInt8](repeating: 0, count: Limits.sftpReadBytes)
            let outcome = unsafe buffer.withUnsafeMutableBytes { bytes in
                Result { () throws(SystemError) in unsafe try output.read(into: bytes) }
            }
            let count = try outcome.get()
            if count == 0 { return nil }
            pending += buffer[..<count]
        }
    }

    private func newErrors() throws(SystemError) -> String {
        let bytes = try errors.bytes(Limits.sftpReadBytes, at: errorOffset)
        errorOffset += Int64(bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }
}
