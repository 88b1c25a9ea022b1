internal import CCofferShims
package import CofferSystem
internal import Glibc

/// A program of the system that runs while this process goes on, with its output through a pipe, and its input if asked.
///
/// It is killed if it still runs when the value ends.
package struct RunningTool: ~Copyable {
    private let processID: pid_t
    /// Readable once the program has ended.
    package let process: OwnedDescriptor
    /// What it writes, which is read without blocking.
    package let output: OwnedDescriptor
    /// What it reads, which is written without blocking.
    private var input: OwnedDescriptor?
    private var hasEnded = false

    /// Starts a program, with no input, and with the standard error of this process.
    ///
    /// - Parameters:
    ///   - path: The program; without a slash it is searched for in `$PATH`.
    ///   - arguments: Its arguments, without its name.
    package init(_ path: String, _ arguments: [String]) throws(SystemError) {
        try self.init(path, arguments, reading: OwnedDescriptor.open("/dev/null", O_RDONLY), from: nil)
    }

    /// Starts a program that is spoken with, without arguments, and with the standard error of this process.
    ///
    /// - Parameter path: The program; without a slash it is searched for in `$PATH`.
    package init(conversingWith path: String) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe pipe(&ends) }
        let source = OwnedDescriptor(owning: ends[0])
        let sink = OwnedDescriptor(owning: ends[1])
        try UnixSocket.setNonBlocking(sink)
        try self.init(path, [], reading: source, from: sink)
    }

    private init(
        _ path: String,
        _ arguments: [String],
        reading given: consuming OwnedDescriptor,
        from own: consuming OwnedDescriptor?
    ) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe pipe(&ends) }
        let source = OwnedDescriptor(owning: ends[0])
        let sink = OwnedDescriptor(owning: ends[1])
        // What the program leaves behind may keep the other end open.
        try UnixSocket.setNonBlocking(source)
        let streams = (given.number, sink.number)
        let number = try unsafe spawn([path] + arguments) {
            unsafe coffer_spawn_tool(path, $0, streams.0, streams.1, STDERR_FILENO, -1)
        }
        do throws(SystemError) {
            process = try OwnedDescriptor("pidfd_open") { coffer_process_open(number) }
        } catch {
            Self.end(number)
            throw error
        }
        processID = number
        output = source
        input = own
    }

    deinit { if !hasEnded { Self.end(processID) } }

    /// A descriptor that is readable once the program has ended.
    package var number: Int32 { process.number }

    /// Writes to a program that is spoken with.
    ///
    /// - Parameter bytes: Not more than its pipe has room for.
    package borrowing func write(_ bytes: RawSpan) throws(SystemError) { try input?.write(all: bytes) }

    /// Ends its input.
    package mutating func closeInput() { input = nil }

    /// Sends it a signal.
    package borrowing func send(_ signal: Int32) { if !hasEnded { kill(processID, signal) } }

    /// Takes note of its end, which ``process`` has told.
    package mutating func reap() {
        var status: Int32 = 0
        _ = unsafe waitpid(processID, &status, 0)
        hasEnded = true
    }

    /// Waits for its end.
    ///
    /// - Parameter limit: How much of its output is returned.
    /// - Returns: Its output, and whether it exited with status 0.
    package consuming func outcome(upTo limit: Int) throws(SystemError) -> (output: [UInt8], isSuccess: Bool) {
        var status: Int32 = 0
        let number = processID
        _ = try retrying("waitpid") { unsafe waitpid(number, &status, 0) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let source = output.number
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in unsafe read(source, buffer.baseAddress, limit) }
        hasEnded = true
        return (Array(bytes.prefix(max(0, count))), status == 0)
    }

    private static func end(_ number: pid_t) {
        var status: Int32 = 0
        kill(number, SIGKILL)
        _ = unsafe waitpid(number, &status, 0)
    }
}
