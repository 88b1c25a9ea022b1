internal import CCofferShims
package import CofferSystem
internal import Glibc

extension ChildProcess {
    /// Runs a program that reads bytes of any number and writes to a descriptor, and waits for its end.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - arguments: Its arguments, without its name.
    ///   - bytes: Its input, which goes through a pipe.
    ///   - output: Its standard output.
    /// - Returns: Whether it exited with status 0 and has read all.
    package static func run(
        _ path: String,
        _ arguments: [String],
        reading bytes: RawSpan,
        writingTo output: Int32
    ) throws(SystemError) -> Bool {
        let (process, sink) = try start(path, arguments, output)
        let isRead = feed(bytes, to: sink)
        return try process.wait() && isRead
    }

    private static func start(
        _ path: String,
        _ arguments: [String],
        _ output: Int32
    ) throws(SystemError) -> (ChildProcess, Int32) {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe pipe(&ends) }
        // The program gets only its standard streams, so that neither end needs close-on-exec.
        let source = OwnedDescriptor(owning: ends[0])
        do throws(SystemError) {
            return (try ChildProcess(path, arguments, input: source.number, output: output), ends[1])
        } catch {
            close(ends[1])
            throw error
        }
    }

    /// Writes all, and closes the pipe, so that the program finds its end.
    private static func feed(_ bytes: RawSpan, to sink: Int32) -> Bool {
        let sink = OwnedDescriptor(owning: sink)
        do throws(SystemError) {
            try sink.write(all: bytes)
            return true
        } catch {
            return false
        }
    }
}
