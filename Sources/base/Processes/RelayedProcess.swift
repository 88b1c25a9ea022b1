internal import CCofferShims
package import CofferSystem
internal import Glibc

/// How a process has ended.
package enum ProcessEnding: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)

    /// Ends this process likewise.
    package func follow() -> Never {
        switch self {
        case .exit(let code): Glibc.exit(code)
        // Without a core dump: that of the other process is enough, and has none of this one's memory.
        case .signal(let number): coffer_end_by_signal(number)
        }
        Glibc.exit(128)
    }
}

/// A program whose standard output and standard error go through this process.
///
/// It is in the same process group, so that the keys of a terminal reach it, and it can read from there.
package struct RelayedProcess: ~Copyable {
    private let processID: pid_t
    private let process: OwnedDescriptor

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - file: The program.
    ///   - arguments: Its arguments, beginning with its name, up to a null pointer.
    ///   - environment: Its variables, up to a null pointer.
    ///   - output: Its standard output.
    ///   - errors: Its standard error.
    ///   - signals: The signals that are held here, and not there.
    package init(
        _ file: ProgramFile,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
        _ environment: [UnsafeMutablePointer<CChar>?],
        output: Int32,
        errors: Int32,
        notHolding signals: borrowing HeldSignals
    ) throws(SystemError) {
        let held = signals.numbers
        ProcessHardening.restoreWriteSignals()
        defer { ProcessHardening.ignoreWriteSignals() }
        let number = try retrying("execve") {
            unsafe coffer_spawn_relayed(
                file.path,
                arguments,
                environment,
                output,
                errors,
                held,
                Int32(held.count)
            )
        }
        do throws(SystemError) {
            process = try OwnedDescriptor("pidfd_open") { coffer_process_open(number) }
        } catch {
            kill(number, SIGKILL)
            throw error
        }
        processID = number
    }

    /// A descriptor that is readable once it has ended.
    package var number: Int32 { process.number }

    /// Sends it a signal.
    package borrowing func send(_ signal: Int32) { kill(processID, signal) }

    /// Waits for its end.
    package borrowing func ending() throws(SystemError) -> ProcessEnding {
        var status: Int32 = 0
        _ = try retrying("waitpid") { unsafe waitpid(processID, &status, 0) }
        let signal = status & 0x7F
        return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    }
}

/// A way for the output of a program: a pipe, or a terminal if that is what the output goes to.
package struct RelayEnds: ~Copyable {
    /// Where this process reads, without blocking.
    package let source: OwnedDescriptor
    /// Where the program writes.
    package let sink: OwnedDescriptor

    /// Makes a way that looks to the program like one of this process' own streams.
    package init(like stream: Int32) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe coffer_open_relay(stream, &ends) }
        source = OwnedDescriptor(owning: ends[0])
        sink = OwnedDescriptor(owning: ends[1])
    }

    /// Whether two streams lead to the same place, so that one way keeps the order of what is written.
    package static func areEqual(_ one: Int32, _ other: Int32) -> Bool {
        var (first, second) = (stat(), stat())
        return unsafe fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }

    /// Gives a terminal of a program the size of the one on which its output is shown.
    package static func copySize(of stream: Int32, to source: Int32) { coffer_copy_window_size(stream, source) }

    /// Reads what the program has written.
    ///
    /// - Returns: The number of bytes; 0 if no process can write any more.
    package static func read(
        _ source: Int32,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        do throws(SystemError) {
            return try retrying("read") { unsafe Glibc.read(source, buffer.baseAddress, buffer.count) }
        } catch {
            // The end of a terminal that no process has open.
            if error.code == EIO { return 0 }
            throw error
        }
    }

    /// Writes bytes to a stream of this process, also if another process has made that non-blocking.
    package static func write(_ bytes: RawSpan, to stream: Int32) throws(SystemError) {
        var done = 0
        while done < bytes.byteCount {
            let rest = bytes.extracting(droppingFirst: done)
            do throws(SystemError) {
                done += try retrying("write") {
                    unsafe rest.withUnsafeBytes { unsafe Glibc.write(stream, $0.baseAddress, $0.count) }
                }
            } catch {
                guard error.wouldBlock else { throw error }
                var state = pollfd(fd: stream, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&state, 1, -1)
            }
        }
    }
}
