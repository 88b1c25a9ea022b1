internal import CCofferShims
package import CofferSystem
internal import Glibc

/// A program of the system that runs while this process goes on, with its output through a pipe.
///
/// It is killed if it still runs when the value ends.
package struct RunningTool: ~Copyable {
    private let processID: pid_t
    private let process: OwnedDescriptor
    private let output: OwnedDescriptor
    private var hasEnded = false

    /// Starts a program, with no input, and with the standard error of this process.
    ///
    /// - Parameters:
    ///   - path: The program; without a slash it is searched for in `$PATH`.
    ///   - arguments: Its arguments, without its name.
    package init(_ path: String, _ arguments: [String]) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe pipe(&ends) }
        let source = OwnedDescriptor(owning: ends[0])
        let sink = OwnedDescriptor(owning: ends[1])
        // What the program leaves behind may keep the other end open.
        try UnixSocket.setNonBlocking(source)
        let nothing = try OwnedDescriptor.open("/dev/null", O_RDONLY)
        let streams = (nothing.number, sink.number)
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
    }

    deinit { if !hasEnded { Self.end(processID) } }

    /// A descriptor that is readable once the program has ended.
    package var number: Int32 { process.number }

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
