internal import CCofferShims
internal import Glibc

/// A program of the system that is asked something: it gets bytes, and answers with bytes, both through pipes.
package enum Tool {
    /// What a tool has left behind.
    package struct Outcome {
        /// How many bytes of its answer are in the buffer.
        package let count: Int
        /// Whether it says that all went well.
        package let isSuccess: Bool
        /// What it has said on standard error: its last line.
        package let lastWords: String
    }

    private static let errorBytes = 4096

    /// Runs a tool to its end.
    ///
    /// - Parameters:
    ///   - path: The program; without a slash it is looked for in `$PATH`.
    ///   - arguments: Its arguments, without its own name.
    ///   - input: What it reads; at most as much as a pipe holds.
    ///   - buffer: Where its answer goes; what does not fit is an error.
    /// - Throws: ``SystemError`` where it can't be started, or answers more than there is room for.
    package static func run(
        _ path: String,
        _ arguments: [String],
        input: RawSpan = RawSpan(),
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Outcome {
        let errors = try Pipe()
        let output = try Pipe()
        let process: pid_t
        do {
            let source = try Pipe()
            try source.sink.write(all: input)
            process = try spawn(path, arguments, source.source.number, output.sink.number, errors.sink.number)
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

    private static func spawn(
        _ path: String,
        _ arguments: [String],
        _ input: Int32,
        _ output: Int32,
        _ errors: Int32
    ) throws(SystemError) -> pid_t {
        let pointers = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        let child = unsafe coffer_spawn_tool(path, pointers, input, output, errors)
        let code = errno
        unsafe pointers.forEach { unsafe free($0) }
        if child < 0 { throw SystemError("spawn", code: code) }
        return child
    }
}

/// Both ends of a pipe.
private struct Pipe: ~Copyable {
    let source: OwnedDescriptor
    let sink: OwnedDescriptor

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe pipe(&ends) }
        // Nobody else has them: what is started gets none but its streams.
        source = OwnedDescriptor(owning: ends[0])
        sink = OwnedDescriptor(owning: ends[1])
    }

    /// The end to read from, which tells the end once nobody else has the other one.
    consuming func closingSink() -> OwnedDescriptor { source }
}

extension OwnedDescriptor {
    /// Reads to the end.
    ///
    /// - Throws: `EFBIG` where there is more than fits.
    fileprivate borrowing func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = unsafe try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
            if count == 0 { return done }
            done += count
        }
        throw SystemError("read", code: EFBIG)
    }

    /// The last line of what there is to read, as far as it is text.
    fileprivate borrowing func text(upTo limit: Int) throws(SystemError) -> String {
        var bytes = [UInt8](repeating: 0, count: limit)
        let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try read(into: buffer) }
        }
        let text = String(decoding: bytes.prefix(try outcome.get()), as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    }
}
