internal import CCofferShims
package import CofferSystem
internal import Glibc

/// Runs a program of the system, with input and output through pipes.
package enum Tool {
    /// The result of a run.
    package struct Outcome {
        /// The number of bytes of output in the buffer.
        package let count: Int
        /// Whether it exited with status 0.
        package let isSuccess: Bool
        /// The last line of its standard error.
        package let lastWords: String
    }

    private static let errorBytes = 4096

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - path: The program; without a slash it is searched for in `$PATH`.
    ///   - arguments: Its arguments, without its name.
    ///   - input: Its input: not more than a pipe holds.
    ///   - buffer: The buffer for its output; more output is an error.
    ///   - descriptor: A descriptor that it gets besides its streams, as number 3.
    /// - Throws: ``SystemError`` if it can't be started, or its output does not fit.
    package static func run(
        _ path: String,
        _ arguments: [String],
        input: RawSpan = RawSpan(),
        into buffer: UnsafeMutableRawBufferPointer,
        passing descriptor: Int32? = nil
    ) throws(SystemError) -> Outcome {
        let errors = try Pipe()
        let output = try Pipe()
        let process: pid_t
        do {
            let source = try Pipe()
            try source.sink.write(all: input)
            let (input, output, errors) = (source.source.number, output.sink.number, errors.sink.number)
            process = unsafe try spawn([path] + arguments) {
                unsafe coffer_spawn_tool(path, $0, input, output, errors, descriptor ?? -1)
            }
        }
        var status: Int32 = 0
        do throws(SystemError) {
            let count = try unsafe output.closingSink().fill(buffer)
            let words = try errors.closingSink().text(upTo: errorBytes)
            _ = try retrying("waitpid") { unsafe waitpid(process, &status, 0) }
            return Outcome(count: count, isSuccess: status == 0, lastWords: words)
        } catch {
            _ = unsafe waitpid(process, &status, 0)
            throw error
        }
    }
}

/// Both ends of a pipe.
private struct Pipe: ~Copyable {
    let source: OwnedDescriptor
    let sink: OwnedDescriptor

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe pipe(&ends) }
        // They need no close-on-exec: a started program gets only its streams, and what is passed.
        source = OwnedDescriptor(owning: ends[0])
        sink = OwnedDescriptor(owning: ends[1])
    }

    /// Closes the sink.
    ///
    /// The source ends when no other process has a sink.
    consuming func closingSink() -> OwnedDescriptor { source }
}

extension OwnedDescriptor {
    /// Reads to the end.
    ///
    /// - Throws: `EFBIG` if the content does not fit.
    fileprivate borrowing func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = unsafe try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
            if count == 0 { return done }
            done += count
        }
        guard try isAtEnd() else { throw SystemError("read", code: EFBIG) }
        return done
    }

    private borrowing func isAtEnd() throws(SystemError) -> Bool {
        var next: UInt8 = 0
        let outcome = unsafe withUnsafeMutableBytes(of: &next) { byte in
            Result { () throws(SystemError) in unsafe try read(into: byte) }
        }
        next = 0
        return try outcome.get() == 0
    }

    /// The last line of the available text.
    fileprivate borrowing func text(upTo limit: Int) throws(SystemError) -> String {
        var bytes = [UInt8](repeating: 0, count: limit)
        let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try read(into: buffer) }
        }
        let text = String(decoding: bytes.prefix(try outcome.get()), as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    }
}
