import CofferMemory
import Foundation
import Testing

private final class Piece {
    var bytes: SecretBytes
    let pattern: UInt8

    init(_ count: Int, pattern: UInt8, in arena: SecretArena) throws {
        bytes = try SecretBytes(zeros: count, in: arena)
        self.pattern = pattern
        bytes.fill(with: pattern)
    }

    var range: Range<UInt> { bytes.address..<(bytes.address + UInt(bytes.count)) }

    var isIntact: Bool {
        let content = bytes.exposeBytes()
        return content.allSatisfy { $0 == pattern }
    }
}

/// A file of `/proc/self`: they have no size, and each read gives a part.
private func text(ofProcess name: String) throws -> String {
    let handle = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/\(name)"))
    defer { try? handle.close() }
    var data = Data()
    while let part = try handle.read(upToCount: 65536), !part.isEmpty { data += part }
    return String(decoding: data, as: UTF8.self)
}

/// What the kernel says of the mapping that an address lies in.
private struct Mapping {
    var lockedKiB = 0
    var flags: [String] = []

    init?(at address: UInt) throws {
        var isHere = false
        var wasFound = false
        for line in try text(ofProcess: "smaps").split(separator: "\n") {
            let words = line.split(separator: " ")
            let ends = words[0].split(separator: "-").map { UInt($0, radix: 16) }
            if ends.count == 2, let low = ends[0], let high = ends[1] {
                isHere = low <= address && address < high
                wasFound = wasFound || isHere
            } else if isHere && words[0] == "Locked:" {
                lockedKiB = Int(words[1]) ?? 0
            } else if isHere && words[0] == "VmFlags:" {
                flags = words.dropFirst().map(String.init)
            }
        }
        if !wasFound { return nil }
    }
}

@Suite struct `The arena of secrets` {
    @Test(arguments: [(1, 32), (33, 100), (129, 512), (513, 4096)])
    func `hands a piece out again, for any size that it is cut for`(first: Int, second: Int) throws {
        let arena = SecretArena()
        var one = try SecretBytes(zeros: first, in: arena)
        let place = one.address
        _ = consume one
        var other = try SecretBytes(zeros: second, in: arena)
        #expect(other.address == place)
    }

    @Test func `keeps some regions of the size of a chunk, wiped`() throws {
        let arena = SecretArena()
        var regions: [Piece] = []
        for _ in 0..<20 { regions.append(try Piece(65536, pattern: 7, in: arena)) }
        let places = Set(regions.map(\.range.lowerBound))
        #expect(places.count == 20)
        regions = []
        var again = try SecretBytes(zeros: 65536, in: arena)
        #expect(places.contains(again.address))
        #expect(again.exposeBytes().allSatisfy { $0 == 0 })
    }

    @Test func `never hands out a piece that is in use`() throws {
        let arena = SecretArena()
        var random = SeededGenerator(seed: 20_260_101)
        var live: [Piece] = []
        for step in 0..<6000 {
            if live.count < 160 && Bool.random(using: &random) {
                let largest = [32, 40, 128, 600, 4096, 9000].randomElement(using: &random) ?? 32
                let count = Int.random(in: 1...largest, using: &random)
                live.append(try Piece(count, pattern: UInt8(truncatingIfNeeded: step | 1), in: arena))
            } else if let index = live.indices.randomElement(using: &random) {
                let piece = live.remove(at: index)
                #expect(piece.isIntact, "step \(step)")
            }
            if step % 500 == 0 {
                let ranges = live.map(\.range).sorted { $0.lowerBound < $1.lowerBound }
                for (one, next) in zip(ranges, ranges.dropFirst()) {
                    #expect(one.upperBound <= next.lowerBound, "step \(step)")
                }
                #expect(live.allSatisfy { $0.isIntact }, "step \(step)")
            }
        }
        #expect(live.count > 20)
        #expect(live.allSatisfy { $0.isIntact })
    }

    @Test func `serves threads side by side`() async throws {
        let arena = SecretArena()
        let damaged = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(task))
                    var live: [Piece] = []
                    var damaged = 0
                    for step in 0..<800 {
                        let count = Int.random(in: 1...300, using: &random)
                        live.append(try Piece(count, pattern: UInt8(truncatingIfNeeded: task * 31 + step), in: arena))
                        if live.count > 20 {
                            let piece = live.remove(at: Int.random(in: 0..<live.count, using: &random))
                            if !piece.isIntact { damaged += 1 }
                        }
                    }
                    return damaged + live.count { !$0.isIntact }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(damaged == 0)
    }

    @Test(arguments: [1, 32, 500, 4096, 4097, 100_000])
    func `gives memory that is locked and left out of core dumps`(count: Int) throws {
        var bytes = try SecretBytes(zeros: count)
        for place in [bytes.address, bytes.address + UInt(count - 1)] {
            let mapping = try #require(try Mapping(at: place))
            #expect(mapping.flags.contains("lo"))
            #expect(mapping.flags.contains("dd"))
            #expect(mapping.lockedKiB > 0)
        }
    }

    @Test func `is distinguished from ordinary memory by that, so that the test can fail`() throws {
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        let place = bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        let mapping = try #require(try Mapping(at: place))
        #expect(!mapping.flags.contains("lo"))
        #expect(!mapping.flags.contains("dd"))
        #expect(mapping.lockedKiB == 0)
    }

    @Test func `fails where memory can't be locked, and never gives memory that is not`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 256 << 10, rlim_max: 256 << 10)
            try #require(setrlimit(Int32(__RLIMIT_MEMLOCK.rawValue), &limit) == 0)
            // The superuser may lock any amount; the user `nobody` may not.
            if geteuid() == 0 { try #require(setuid(65534) == 0) }
            var refusals = 0
            var pieces: [Piece] = []
            for count in [4096, 1 << 20, 32, 1 << 20] {
                do {
                    pieces.append(try Piece(count, pattern: 1, in: .shared))
                } catch is SecretMemoryError {
                    refusals += 1
                }
            }
            #expect(refusals == 2)
            #expect(pieces.map(\.range.count) == [4096, 32])
            // Slabs of 64 KiB: with one for each of the two sizes above, one more fits, but not many.
            #expect(throws: SecretMemoryError.self) {
                for _ in 0..<200 { pieces.append(try Piece(4096, pattern: 1, in: .shared)) }
            }
            // What was given is locked: as much as the kernel counts, to the page, and no more than the limit.
            let status = try text(ofProcess: "status").split(separator: "\n")
            let line = try #require(status.first { $0.hasPrefix("VmLck:") })
            let locked = try #require(Int(line.split { $0 == " " || $0 == "\t" }[1]))
            let given = pieces.count { $0.range.count == 4096 } * 4
            #expect((given...256).contains(locked))
        }
    }
}
