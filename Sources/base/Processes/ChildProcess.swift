internal import CCofferShims
package import CofferSystem
internal import Glibc

/// A program that is started with given streams, and waited for.
package struct ChildProcess {
    private let processID: pid_t

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: The program; without a slash it is searched for in `$PATH`.
    ///   - arguments: Its arguments, without its name.
    ///   - input: Its standard input.
    ///   - output: Its standard output.
    ///   - errors: Its standard error.
    package init(
        _ path: String,
        _ arguments: [String],
        input: Int32 = STDIN_FILENO,
        output: Int32 = STDOUT_FILENO,
        errors: Int32 = STDERR_FILENO
    ) throws(SystemError) {
        processID = unsafe try spawn([path] + arguments) {
            unsafe coffer_spawn_tool(path, $0, input, output, errors, -1)
        }
    }

    /// Starts a program that reads some bytes and writes nothing, and does not wait for it.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - arguments: Its arguments, without its name.
    ///   - bytes: Its input: not more than a pipe holds.
    package init(_ path: String, _ arguments: [String], reading bytes: RawSpan) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe pipe(&ends) }
        let source = OwnedDescriptor(owning: ends[0])
        let sink = OwnedDescriptor(owning: ends[1])
        try sink.write(all: bytes)
        let nothing = try OwnedDescriptor.open("/dev/null", O_RDWR)
        // What it leaves behind may hold its streams for long, such as the server of a selection.
        try self.init(path, arguments, input: source.number, output: nothing.number, errors: nothing.number)
    }

    /// Waits for its end.
    ///
    /// - Returns: Whether it exited with status 0.
    package func wait() throws(SystemError) -> Bool {
        var status: Int32 = 0
        _ = try retrying("waitpid") { unsafe waitpid(processID, &status, 0) }
        return status == 0
    }

    /// The bytes that it has read, from files and from its peers; 0 if the kernel does not tell.
    package var readByteCount: Int64 {
        guard let bytes = try? OwnedDescriptor.content(ofFile: "/proc/\(processID)/io", upTo: 512) else { return 0 }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("rchar: ") }
        return line.flatMap { Int64($0.dropFirst("rchar: ".count)) } ?? 0
    }

    /// Ends it, whatever it does.
    package func end() { _ = kill(processID, SIGKILL) }

    /// Waits for its end while signals are held; SIGINT and SIGQUIT from the terminal are its own affair.
    ///
    /// - Returns: Whether it exited with status 0; `nil` and the signal if one is to end this process.
    package func wait(holding signals: borrowing HeldSignals) throws(SystemError) -> (isSuccess: Bool?, signal: Int32) {
        let process = try OwnedDescriptor("pidfd_open") { coffer_process_open(processID) }
        while let signal = try signals.wait(for: process.number) {
            if signal == SIGINT || signal == SIGQUIT { continue }
            kill(processID, signal)
            return (nil, signal)
        }
        return (try wait(), 0)
    }
}
