internal import CofferClient
internal import CofferCore
internal import CofferWire
internal import Synchronization

/// Further handles for reading, each on a connection of its own: while one read of a file waits for its answer, the next
/// one, which the kernel asks for ahead, is under way.
///
/// They only help: what can't be read by one is read by the handle that the file has anyway, which knows what to do about
/// a lock, a broken connection and a file without a name.
final class ReadLanes: Sendable {
    private struct Lane {
        let connection: DaemonConnection
        let handle: Int64
        let epoch: Int
    }

    private enum Place {
        case idle(Lane)
        /// It is being opened or used.
        case busy
        /// It can't be opened.
        case none
    }

    /// By the numbers of files.
    private let places = Mutex<[UInt64: Place]>([:])

    /// Reads a range.
    ///
    /// - Parameters:
    ///   - number: The number of the file.
    ///   - connection: A connection for a lane that is not open yet.
    ///   - open: How to open the file.
    ///   - read: What to read, by a handle.
    /// - Returns: `nil` if the lane is in use, or can't read it.
    func read(
        _ number: UInt64,
        on connection: DaemonConnection,
        open: () throws(Errno) -> FileOpenParameters,
        _ read: (Int64) -> FileReadParameters
    ) -> Secret? {
        guard let place = take(number), let lane = place ?? (try? make(number, on: connection, open)) else {
            return nil
        }
        guard let reply = try? lane.connection.call(read(lane.handle), in: lane.epoch) else {
            close(lane)
            put(.none, number)
            return nil
        }
        put(.idle(lane), number)
        return reply.payload
    }

    /// - Returns: `nil` if there is none to use; within it `nil` if one is to be made.
    private func take(_ number: UInt64) -> Lane?? {
        places.withLock { places -> Lane?? in
            switch places[number] {
            case nil:
                places[number] = .busy
                return .some(nil)
            case .idle(let lane):
                places[number] = .busy
                return lane
            case .busy, .some(.none): return nil
            }
        }
    }

    private func make(
        _ number: UInt64,
        on connection: DaemonConnection,
        _ open: () throws(Errno) -> FileOpenParameters
    ) throws -> Lane {
        do {
            let reply = try connection.call(try open())
            let lane = Lane(connection: connection, handle: reply.value.handle, epoch: reply.epoch)
            // Another client may have replaced the file of this name.
            guard let inode = reply.value.file?.inode, UInt64(clamping: inode) == number else {
                close(lane)
                throw Errno.stale
            }
            return lane
        } catch {
            put(.none, number)
            throw error
        }
    }

    private func put(_ place: Place, _ number: UInt64) { places.withLock { $0[number] = place } }

    private func close(_ lane: Lane) {
        _ = try? lane.connection.call(FileCloseParameters(handle: lane.handle), in: lane.epoch)
    }

    /// Closes the lane of a file that no program has open any more.
    func close(_ number: UInt64) {
        guard case .idle(let lane)? = places.withLock({ $0.removeValue(forKey: number) }) else { return }
        close(lane)
    }
}
