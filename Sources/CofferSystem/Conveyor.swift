internal import Glibc
internal import Synchronization

/// Has another thread end what this one begins, piece by piece: meanwhile the next piece is begun here.
///
/// The other thread is started for the second piece; where there is only one, or enough others run already, everything is
/// done here. Pieces are ended in the order in which they were begun.
package struct Conveyor<Piece: ~Copyable & Sendable>: ~Copyable {
    private let work: @Sendable (inout Piece) throws -> Void
    private let make: () throws -> Piece
    private let pieceCount: Int
    private var slots: [Slot<Piece>] = []
    private var belt: Belt?
    private var thread = pthread_t()
    private var loadedCount = 0

    /// Makes one at which nothing is under way.
    ///
    /// - Parameters:
    ///   - pieceCount: The pieces that there are at most; two at least.
    ///   - make: Makes a piece; each is used again and again.
    ///   - work: Ends a piece, on whichever thread; once it has failed, it is not called again.
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
    /// Waits while all of them are under way.
    ///
    /// - Parameter body: Fills it.
    /// - Throws: What `body` throws, or what the work of an earlier piece has thrown.
    package mutating func load(_ body: (inout Piece) throws -> Void) throws {
        if slots.isEmpty { slots.append(Slot(try make())) }
        if loadedCount == 1 { try startIfPossible() }
        if let belt {
            try belt.waitForRoom()
        } else if loadedCount > 0 {
            try slots[0].piece.withLock { try work(&$0) }
        }
        try slots[belt == nil ? 0 : loadedCount % slots.count].piece.withLock { try body(&$0) }
        loadedCount += 1
        belt?.filled.signal()
    }

    /// Waits until all pieces are ended.
    ///
    /// - Throws: What the work of one has thrown.
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
        // Its owner ends it, and gives the place back.
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
        // The first piece waits already.
        belt.filled.signal()
    }
}

private final class Slot<Piece: ~Copyable & Sendable>: Sendable {
    let piece: Mutex<Piece>
    init(_ piece: consuming sending Piece) { self.piece = Mutex(piece) }
}

/// What both threads know of each other.
private final class Belt: Sendable {
    /// More threads than cores end nothing sooner.
    private static let mostThreads = 4
    private static let threadCount = Atomic(0)

    let filled = Semaphore(0)
    private let free: Semaphore
    private let endCount = Atomic(Int.max)
    private let failure = Mutex<(any Error)?>(nil)

    init(room: Int) { free = Semaphore(room) }

    static func reserve() -> Bool {
        if threadCount.add(1, ordering: .relaxed).newValue <= mostThreads { return true }
        giveBack()
        return false
    }

    static func giveBack() { threadCount.subtract(1, ordering: .relaxed) }

    func waitForRoom() throws {
        free.wait()
        try check()
    }

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
