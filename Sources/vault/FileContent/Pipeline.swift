internal import CofferSystem
internal import Glibc
internal import Synchronization

/// A pipeline of two threads: another thread finishes each piece while this one begins the next.
///
/// The other thread is started for the second piece. If there is only one piece, or enough such threads are running,
/// this thread does everything. Pieces are finished in order.
package struct Pipeline<Piece: ~Copyable & Sendable>: ~Copyable {
    private let work: @Sendable (inout Piece) throws -> Void
    private let make: () throws -> Piece
    private let pieceCount: Int
    private var slots: [Slot<Piece>] = []
    private var belt: Belt?
    private var thread = pthread_t()
    private var loadedCount = 0

    /// Makes an empty pipeline.
    ///
    /// - Parameters:
    ///   - pieceCount: The maximum number of pieces; at least two.
    ///   - make: Makes a piece; each is reused.
    ///   - work: Finishes a piece, on either thread; after a failure it is not called again.
    package init(
        _ pieceCount: Int,
        make: @escaping () throws -> Piece,
        work: @escaping @Sendable (inout Piece) throws -> Void
    ) {
        self.pieceCount = pieceCount
        self.make = make
        self.work = work
    }

    deinit { if let belt { belt.end(after: loadedCount, thread) } }

    /// Begins a piece.
    ///
    /// Blocks while all pieces are in use.
    ///
    /// - Parameter body: Fills the piece.
    /// - Throws: What `body` throws, or the failure of an earlier piece.
    package mutating func load(_ body: (inout Piece) throws -> Void) throws {
        if slots.isEmpty { slots.append(Slot(try make())) }
        if loadedCount == 1 { try startIfPossible() }
        if let belt {
            belt.free.wait()
            try belt.check()
        } else if loadedCount > 0 {
            try slots[0].piece.withLock { try work(&$0) }
        }
        try slots[belt == nil ? 0 : loadedCount % slots.count].piece.withLock { try body(&$0) }
        loadedCount += 1
        belt?.filled.signal()
    }

    /// Waits until all pieces are finished.
    ///
    /// - Throws: The failure of a piece.
    package mutating func finish() throws {
        if let belt {
            self.belt = nil
            belt.end(after: loadedCount, thread)
            try belt.check()
        } else if loadedCount > 0 {
            try slots[0].piece.withLock { try work(&$0) }
        }
    }

    private mutating func startIfPossible() throws {
        guard Belt.reserve() else { return }
        // ``finish()`` or the deinitializer ends the thread and releases its slot.
        let belt = Belt(room: pieceCount - 1)
        do { while slots.count < pieceCount { slots.append(Slot(try make())) } } catch {}
        let (slots, work) = (slots, work)
        let run: @Sendable () -> Void = {
            belt.run { index in try slots[index % slots.count].piece.withLock { try work(&$0) } }
        }
        guard slots.count == pieceCount, let thread = NativeThread.start(run) else {
            self.slots.removeLast(self.slots.count - 1)
            Belt.giveBack()
            return
        }
        self.belt = belt
        self.thread = thread
        // The first piece is filled already.
        belt.filled.signal()
    }
}

private final class Slot<Piece: ~Copyable & Sendable>: Sendable {
    let piece: Mutex<Piece>
    init(_ piece: consuming sending Piece) { self.piece = Mutex(piece) }
}

/// The state that both threads share.
private final class Belt: Sendable {
    /// More threads than cores make nothing faster.
    private static let mostThreads = 4
    private static let threadCount = Atomic(0)

    let filled = CountingSemaphore(0)
    let free: CountingSemaphore
    private let endCount = Atomic(Int.max)
    private let failure = Mutex<(any Error)?>(nil)

    init(room: Int) { free = CountingSemaphore(room) }

    static func reserve() -> Bool {
        if threadCount.add(1, ordering: .relaxed).newValue <= mostThreads { return true }
        giveBack()
        return false
    }

    static func giveBack() { threadCount.subtract(1, ordering: .relaxed) }

    func check() throws { if let error = failure.withLock({ $0 }) { throw error } }

    func run(_ work: (Int) throws -> Void) {
        for index in 0... {
            filled.wait()
            if index == endCount.load(ordering: .acquiring) { return }
            if failure.withLock({ $0 == nil }) {
                do { try work(index) } catch { failure.withLock { $0 = error } }
            }
            free.signal()
        }
    }

    func end(after count: Int, _ thread: pthread_t) {
        endCount.store(count, ordering: .releasing)
        filled.signal()
        pthread_join(thread, nil)
        Self.giveBack()
    }
}
