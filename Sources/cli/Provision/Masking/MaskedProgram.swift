internal import CofferClient
internal import CofferProcesses
internal import CofferSystem
internal import Glibc

/// A program whose output is printed with its secrets masked.
///
/// It is a child in the same process group and on the same terminal, with its input as it is. So the keys of a terminal reach
/// both, and stop and continue both.
struct MaskedProgram: ~Copyable {
    private static let signals = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGUSR2, SIGWINCH]

    private let signals: HeldSignals
    private let process: RelayedProcess
    private let streams: [MaskedStream]

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - secrets: The secrets to mask.
    ///   - start: Starts it with a standard output and a standard error.
    init(
        masking secrets: [Secret],
        start: (Int32, Int32, borrowing HeldSignals) throws -> RelayedProcess
    ) throws {
        let signals: HeldSignals
        do throws(SystemError) { signals = try HeldSignals(Self.signals) } catch {
            throw error.cofferError("can't start the program")
        }
        let isOne = RelayEnds.areEqual(STDOUT_FILENO, STDERR_FILENO)
        let patterns = try Masker.patterns(of: secrets)
        let output = try MaskedStream(STDOUT_FILENO, masking: patterns)
        let errors = isOne ? output : try MaskedStream(STDERR_FILENO, masking: patterns)
        process = try start(output.sinkNumber, errors.sinkNumber, signals)
        self.signals = signals
        streams = isOne ? [output] : [output, errors]
        // Where no process has a sink any more, the output has ended.
        streams.forEach { $0.closeSink() }
    }

    /// Prints what it writes until it ends; what it has left behind may go on without an output.
    ///
    /// - Throws: `io` if a file or a terminal can't be written.
    consuming func finish() throws(CofferError) -> ProcessEnding {
        var waiting = PollSet()
        repeat {
            waiting.removeAll()
            waiting.add(process.number, isReading: true, isWriting: false)
            waiting.add(signals.number, isReading: true, isWriting: false)
            let open = streams.filter { $0.sourceNumber != nil }
            for number in open.compactMap(\.sourceNumber) { waiting.add(number, isReading: true, isWriting: false) }
            waiting.wait()
            if waiting.isReady(at: 1) { forwardSignals() }
            for (index, stream) in open.enumerated() where waiting.isReady(at: 2 + index) { stream.relay() }
        } while !waiting.isReady(at: 0)
        for stream in streams { stream.finish() }
        if let failure = streams.compactMap(\.failure).first { throw failure.cofferError("can't write the output") }
        do throws(SystemError) { return try process.ending() } catch {
            throw error.cofferError("can't wait for the program")
        }
    }

    private borrowing func forwardSignals() {
        while let (number, isFromKernel) = signals.next() {
            if number == SIGWINCH {
                streams.forEach { $0.copySize() }
            } else if isFromKernel {
                // The terminal has sent it to the program as well.
                continue
            }
            process.send(number)
        }
    }
}

/// Standard output or standard error of a program, on its way to that of this process.
private final class MaskedStream {
    private let target: Int32
    private var source: OwnedDescriptor?
    private var sink: OwnedDescriptor?
    private var masker: Masker
    /// Why it could not be printed; a reader that is gone is no failure, and the program finds that out.
    private(set) var failure: SystemError?

    init(_ target: Int32, masking patterns: [MaskPattern]) throws(CofferError) {
        self.target = target
        masker = try Masker(patterns)
        do throws(SystemError) {
            let ends = try RelayEnds(like: target)
            source = try ends.source.duplicate()
            sink = try ends.sink.duplicate()
        } catch {
            throw error.cofferError("can't relay the output")
        }
    }

    var sinkNumber: Int32 { sink.number ?? -1 }
    var sourceNumber: Int32? { source.number }

    func closeSink() { sink = nil }

    func copySize() {
        guard let number = sourceNumber else { return }
        RelayEnds.copySize(of: target, to: number)
    }

    /// Prints some of what has arrived.
    ///
    /// - Returns: Whether there may be more.
    @discardableResult func relay() -> Bool {
        guard let number = sourceNumber else { return false }
        do throws(SystemError) {
            let count = try unsafe masker.take(
                { (buffer) throws(SystemError) in unsafe try RelayEnds.read(number, into: buffer) },
                to: { (bytes) throws(SystemError) in try RelayEnds.write(bytes, to: target) }
            )
            if count == 0 { source = nil }
            return count > 0
        } catch {
            if error.wouldBlock { return false }
            if error.code != EPIPE { failure = error }
            source = nil
            return false
        }
    }

    /// Prints what is left, as far as it was there when the program ended.
    func finish() {
        // A pipe has at most a megabyte; a process that was left behind may fill it again and again.
        for _ in 0..<16 where relay() {}
        guard failure == nil else { return }
        do throws(SystemError) {
            try masker.finish { (bytes) throws(SystemError) in try RelayEnds.write(bytes, to: target) }
        } catch {
            if error.code != EPIPE { failure = error }
        }
    }
}

extension OwnedDescriptor? {
    /// Its number, while there is one.
    fileprivate var number: Int32? {
        switch self {
        case .none: nil
        case .some(let descriptor): descriptor.number
        }
    }
}
