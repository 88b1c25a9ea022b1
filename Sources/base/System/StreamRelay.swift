internal import CCofferShims
internal import CofferCore
internal import Glibc

/// Moves bytes between a stream of this process and a pipe whose other end another process gets.
///
/// A descriptor that was passed can't be taken back: a process that never answers would hold the stream open, and
/// whoever waits for its end would wait as long. A regular file has no such end, and is passed as it is.
package final class StreamRelay {
    private let stream: Int32
    private let isReading: Bool
    private var own: OwnedDescriptor?
    private var theirs: OwnedDescriptor?
    /// Whether the stream has bytes, or its end, that the pipe has to take.
    private var hasInput = false
    /// Why the stream could not be read or written.
    package private(set) var failure: SystemError?

    private init(_ stream: Int32, isReading: Bool) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe coffer_pipe(&ends, Int32(Limits.peerPipeBytes)) }
        self.stream = stream
        self.isReading = isReading
        own = OwnedDescriptor(owning: isReading ? ends[1] : ends[0])
        theirs = OwnedDescriptor(owning: isReading ? ends[0] : ends[1])
        let number = isReading ? ends[1] : ends[0]
        _ = try retrying("fcntl") { fcntl(number, F_SETFL, O_NONBLOCK) }
    }

    /// Makes a relay.
    ///
    /// - Parameters:
    ///   - stream: The stream, which stays open until the relay has ended.
    ///   - isReading: Whether the other process reads from it.
    /// - Returns: `nil` for a file or a device that can be passed as it is.
    package static func make(for stream: Int32, isReading: Bool) throws(SystemError) -> StreamRelay? {
        switch PeerDescriptor.type(of: stream) {
        case S_IFIFO?, S_IFSOCK?: break
        case S_IFCHR? where isatty(stream) == 1: break
        default: return nil
        }
        // What has another access is refused by whoever gets it.
        let flags = fcntl(stream, F_GETFL)
        guard flags >= 0, [isReading ? O_RDONLY : O_WRONLY, O_RDWR].contains(flags & O_ACCMODE) else { return nil }
        return try StreamRelay(stream, isReading: isReading)
    }

    /// Takes out the other end of the pipe.
    package func takeOtherEnd() -> OwnedDescriptor? { theirs.take() }

    /// Adds one descriptor to a set: the one that it waits for.
    package func add(to set: inout PollSet) {
        // The kernel ignores a negative number.
        let number = ownNumber.map { isReading && !hasInput ? stream : $0 } ?? -1
        set.add(number, isReading: !isReading || !hasInput, isWriting: isReading && hasInput)
    }

    /// Moves bytes after the wait for its descriptor.
    package func advance() {
        guard let number = ownNumber else { return }
        if isReading && !hasInput { return hasInput = true }
        do throws(SystemError) {
            let (from, to) = isReading ? (stream, number) : (number, stream)
            hasInput = false
            if try moveBytes(from: from, to: to, upTo: Limits.peerPipeBytes) == 0 { own = nil }
        } catch {
            // A reader that wants no more says why itself.
            if !(isReading && error.code == EPIPE) { failure = error }
            own = nil
        }
    }

    /// Writes all bytes that are in the pipe to the stream.
    package func drain() {
        var wanted = PollSet()
        while !isReading, let number = ownNumber {
            wanted.removeAll()
            wanted.add(number, isReading: true, isWriting: false)
            wanted.wait(for: .zero)
            guard wanted.isReady(at: 0) else { return }
            advance()
        }
    }

    private var ownNumber: Int32? {
        switch own {
        case .none: nil
        case .some(let own): own.number
        }
    }
}

/// Moves bytes between two descriptors, one of them a pipe.
///
/// - Returns: The number of bytes; 0 at the end.
func moveBytes(from: Int32, to: Int32, upTo count: Int) throws(SystemError) -> Int {
    do throws(SystemError) {
        return Int(try retrying("splice") { coffer_splice(from, to, count) })
    } catch {
        // What does not block is waited for again.
        if error.code == EAGAIN { return 1 }
        // Neither files that are appended to nor all devices can be spliced.
        guard error.code == EINVAL else { throw error }
        return try tolerating(EAGAIN) { () throws(SystemError) in
            Int(try retrying("write") { coffer_copy(from, to, count) })
        } ?? 1
    }
}
