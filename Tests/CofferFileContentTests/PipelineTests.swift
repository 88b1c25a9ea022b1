import CofferFileContent
import CofferCore
import CofferFiles
import CofferTestSupport
import Foundation
import Testing

/// A piece with a single owner, like a secret.
private struct Piece: ~Copyable, Sendable {
    var number = 0
}

private struct Ended: Equatable {
    let number: Int
    let thread: UInt
}

@Suite struct `A pipeline` {
    private func here() -> UInt { UInt(pthread_self()) }

    /// Loads pieces that are numbered from 0.
    private func convey(
        _ count: Int,
        pieces: Int = 3,
        _ work: @escaping @Sendable (Int) throws -> Void
    ) throws {
        var pipeline = Pipeline<Piece>(pieces, make: { Piece() }, work: { try work($0.number) })
        for number in 0..<count { try pipeline.load { $0.number = number } }
        try pipeline.finish()
    }

    @Test(arguments: [2, 3, 7], [2, 3, 100])
    func `ends pieces in the order in which they were begun, on one other thread`(pieces: Int, count: Int) throws {
        let ended = Shared<[Ended]>([])
        try convey(count, pieces: pieces) { number in
            ended.change { $0.append(Ended(number: number, thread: UInt(pthread_self()))) }
        }
        #expect(ended.value.map(\.number) == Array(0..<count))
        #expect(Set(ended.value.map(\.thread)).count == 1)
    }

    @Test func `starts no thread for a single piece, and does nothing for none`() throws {
        let ended = Shared<[Ended]>([])
        for count in [0, 1] {
            try convey(count) { number in
                ended.change { $0.append(Ended(number: number, thread: UInt(pthread_self()))) }
            }
            #expect(ended.value == (0..<count).map { Ended(number: $0, thread: here()) })
        }
    }

    @Test(arguments: [1, 2, 40], [0, 1, 5])
    func `says what ending a piece has thrown, and ends no more`(count: Int, failing: Int) throws {
        let ended = Shared<[Int]>([])
        var found: (any Error)?
        do {
            try convey(count) { number in
                if number == failing { throw CofferError(.diskFull, "no room") }
                ended.change { $0.append(number) }
            }
        } catch {
            found = error
        }
        #expect((found as? CofferError)?.code == (failing < count ? .diskFull : nil))
        #expect(ended.value == Array(0..<min(count, failing)))
    }

    @Test func `has ended what was begun when it goes`() throws {
        let ended = Shared<[Int]>([])
        func fill() throws {
            var pipeline = Pipeline<Piece>(
                3,
                make: { Piece() },
                work: { piece in
                    let number = piece.number
                    ended.change { $0.append(number) }
                }
            )
            for number in 0..<5 { try pipeline.load { $0.number = number } }
            try pipeline.load { _ in throw CofferError(.decode, "damaged") }
        }
        #expect(throws: CofferError(.decode, "damaged")) { try fill() }
        #expect(ended.value == Array(0..<5))
    }

    @Test func `makes do with one thread where many others run`() throws {
        let ended = Shared<[Int]>([])
        func nest(_ depth: Int) throws {
            try convey(4) { number in ended.change { $0.append(depth * 10 + number) } }
            if depth == 0 { return }
            var holding = Pipeline<Piece>(3, make: { Piece() }, work: { _ in })
            for number in 0..<2 { try holding.load { $0.number = number } }
            try nest(depth - 1)
            try holding.finish()
        }
        try nest(12)
        #expect(ended.value.count == 13 * 4)
    }
}
