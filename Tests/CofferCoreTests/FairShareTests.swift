import CofferCore
import Testing

/// How what all share is shared out.
@Suite struct FairShareTests {
    /// Has parties take one after the other until none gets more.
    private func held(by parties: Int, of total: Int) -> [Int] {
        var held = Array(repeating: 0, count: parties)
        var isStill = false
        while !isStill {
            isStill = true
            for party in held.indices
            where FairShare.left(holding: held[party], used: held.reduce(0, +), of: total) > 0 {
                held[party] += 1
                isStill = false
            }
        }
        return held
    }

    @Test(arguments: [4, 8, 32, 100, 2048, 4096])
    func `one alone gets three quarters, and several get the same and leave something`(total: Int) {
        #expect(held(by: 1, of: total) == [total * 3 / 4])
        for parties in 2...5 where parties * 8 <= total {
            let held = held(by: parties, of: total)
            #expect(held.max()! - held.min()! <= 1, "\(held)")
            let sum = held.reduce(0, +)
            #expect(sum < total && sum >= total * 3 / 4, "\(held)")
        }
    }

    @Test func `who comes when one has taken all that it gets has as much in the end, once that one gives back`() {
        let total = 32
        var held = [24, 0]
        func left(_ party: Int) -> Int {
            FairShare.left(holding: held[party], used: held[0] + held[1], of: total)
        }
        while left(1) > 0 { held[1] += 1 }
        #expect(held[1] >= 4)
        while held[0] > held[1] {
            #expect(left(0) == 0)
            held[0] -= 1
            while left(1) > 0 { held[1] += 1 }
        }
        #expect((13...14).contains(held[1]))
    }

    @Test(arguments: 0...64)
    func `what is left can be taken together as well as one by one`(used: Int) {
        for held in 0...used {
            let left = FairShare.left(holding: held, used: used, of: 64)
            #expect(left >= 0 && used + left <= 64)
            if left > 0 { #expect(FairShare.left(holding: held + left, used: used + left, of: 64) == 0) }
        }
    }

    @Test func `who has nothing gets the last one`() {
        #expect(FairShare.left(holding: 0, used: 31, of: 32) == 1)
        #expect(FairShare.left(holding: 1, used: 31, of: 32) == 0)
        #expect(FairShare.left(holding: 0, used: 32, of: 32) == 0)
        #expect(FairShare.left(holding: 0, used: 33, of: 32) == 0)
        #expect(FairShare.left(holding: 0, used: 0, of: 1) == 1)
    }

    @Test func `parties take turns, and each one's own keep their order`() {
        var queue = FairQueue()
        for number in [11, 12, 13, 21, 14, 31, 22] { queue.append(number, for: number / 10) }
        var order: [Int] = []
        while let next = queue.removeFirst() {
            order.append(next.element)
            if next.element == 21 { queue.append(41, for: 4) }
        }
        #expect(order == [11, 21, 31, 12, 22, 41, 13, 14])
        #expect(queue.isEmpty)
    }

    @Test func `who may not go keeps its turn`() {
        var queue = FairQueue()
        for number in 1...4 { queue.append(number, for: number % 2) }
        #expect(queue.removeFirst { $0 == 0 }?.element == 2)
        #expect(queue.removeFirst { _ in false } == nil)
        #expect(queue.removeFirst()?.element == 1)
        #expect(queue.removeFirst()?.element == 4)
    }
}

/// How often something may happen.
@Suite struct TokenBucketTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `after a pause a burst is allowed, and then one at a time`() {
        var bucket = TokenBucket(rate: 10, burst: 3)
        let now = 100 * Self.second
        for _ in 0..<3 {
            #expect(bucket.nextTime <= now)
            bucket.take(at: now)
        }
        #expect(bucket.nextTime == now + Self.second / 10)
        bucket.take(at: now + Self.second / 10)
        #expect(bucket.nextTime == now + Self.second / 5)
        #expect(!bucket.isFull(at: now + Self.second / 5))
        #expect(bucket.isFull(at: now + Self.second))
    }

    @Test func `what came too early is made up for`() {
        var bucket = TokenBucket(rate: 1, burst: 1)
        let now = 7 * Self.second
        for _ in 0..<5 { bucket.take(at: now) }
        #expect(bucket.nextTime == now + 5 * Self.second)
    }

    @Test(arguments: [1, 3, 1024, 1_000_000])
    func `over time it is the rate`(rate: Int) {
        var bucket = TokenBucket(rate: rate, burst: rate)
        var now = 50 * Self.second
        let start = now
        for _ in 0..<(3 * rate) {
            now = max(now, bucket.nextTime)
            bucket.take(at: now)
        }
        let taken = Double(now - start) / Double(Self.second)
        #expect(taken > 1.9 - 1 / Double(rate) && taken <= 2)
    }
}
