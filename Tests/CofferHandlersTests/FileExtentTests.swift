import CofferCore
import CofferTestSupport
import CofferVault
import CofferWire
import Testing

/// What is data of a file, and what is a hole.
@Suite struct FileExtentTests {
    private let stepper: Stepper
    private let page: Int64 = 4096

    init() throws { stepper = try Stepper() }

    private func open(_ name: JSONValue = "f", class protectionClass: ProtectionClass? = nil) throws -> JSONValue {
        var params: JSONObject = ["name": name, "access": "readWrite", "create": true]
        if let protectionClass { params.set("class", .string(protectionClass.rawValue)) }
        return try #require(try stepper.perform(.fileOpen, params).result?["handle"])
    }

    private func write(_ count: Int64, at offset: Int64, to handle: JSONValue) throws {
        let params: JSONObject = ["handle": handle, "offset": .integer(offset)]
        #expect(try stepper.perform(.fileWrite, params, [UInt8](repeating: 1, count: Int(count))).failure == nil)
    }

    private func change(_ method: CofferWire.Method, _ handle: JSONValue, _ params: JSONObject) throws {
        var params = params
        params.set("handle", handle)
        #expect(try stepper.perform(method, params).failure == nil)
    }

    private struct Extent: Equatable {
        let count: Int64
        let isHole: Bool
    }

    private func extent(_ handle: JSONValue, _ offset: Int64) throws -> Extent {
        let asked = try stepper.perform(.fileExtent, ["handle": handle, "offset": .integer(offset)])
        let result = try #require(asked.result, "\(asked.failure?.message ?? "")")
        return Extent(count: try #require(result["bytes"]?.integerValue), isHole: result["isHole"] == true)
    }

    /// The data of a file, from its beginning to its end.
    private func data(_ handle: JSONValue) throws -> [Range<Int64>] {
        var (found, offset): ([Range<Int64>], Int64) = ([], 0)
        while true {
            let extent = try extent(handle, offset)
            if extent.count == 0 { return found }
            let end = offset + extent.count
            if !extent.isHole, let last = found.last, last.upperBound == offset {
                found[found.count - 1] = last.lowerBound..<end
            } else if !extent.isHole {
                found.append(offset..<end)
            }
            offset = end
        }
    }

    @Test func `what was written is data, by whole pages, and the rest a hole, synced or not, named or not`() throws {
        let handle = try open()
        #expect(try extent(handle, 0) == Extent(count: 0, isHole: true))
        try write(page, at: 0, to: handle)
        try write(10, at: 1 << 20, to: handle)
        try change(.fileTruncate, handle, ["bytes": 1_073_741_824])
        let expected: [Range<Int64>] = [0..<page, (1 << 20)..<((1 << 20) + page)]
        #expect(try data(handle) == expected)
        #expect(try extent(handle, 100) == Extent(count: page - 100, isHole: false))
        #expect(try extent(handle, page) == Extent(count: (1 << 20) - page, isHole: true))
        #expect(try extent(handle, (1 << 20) + page) == Extent(count: (1 << 30) - (1 << 20) - page, isHole: true))
        try change(.fileSync, handle, [:])
        #expect(try data(handle) == expected)
        try change(.fileClose, handle, [:])
        let again = try open()
        #expect(try data(again) == expected)
        #expect(try stepper.perform(.fileRemove, ["name": "f"]).failure == nil)
        try stepper.commit()
        #expect(try data(again) == expected)
        try write(1, at: 1 << 25, to: again)
        #expect(try data(again) == expected + [(1 << 25)..<((1 << 25) + page)])
    }

    @Test func `what was punched or cut off is a hole, also of a content that was put`() throws {
        let content = [UInt8](repeating: 1, count: 200_000)
        let put = try stepper.perform(.itemPut, ["name": "f", "kind": "document"], content)
        #expect(put.failure == nil)
        let handle = try open()
        #expect(try data(handle) == [0..<200_000])
        try change(.fileTruncate, handle, ["bytes": 1_000_000])
        #expect(try data(handle) == [0..<200_704])
        for isSynced in [false, true] {
            try change(.filePunch, handle, ["offset": 65_536, "length": 65_536])
            if isSynced { try change(.fileSync, handle, [:]) }
            #expect(try data(handle) == [0..<65_536, 131_072..<200_704])
        }
        try write(page, at: 500_000, to: handle)
        try change(.fileTruncate, handle, ["bytes": 100_000])
        try change(.fileTruncate, handle, ["bytes": 1_000_000])
        #expect(try data(handle) == [0..<65_536])
        try change(.fileSync, handle, [:])
        #expect(try data(handle) == [0..<65_536])
    }

    @Test func `more chunks than one request looks at are told by several, and a hole of them by one`() throws {
        let handle = try open()
        try write(page, at: 0, to: handle)
        let (piece, count) = (Int64(Limits.framePayloadBytes), Int64(Limits.extentChunks) * page * 2 + page)
        for offset in stride(from: page, to: count, by: Int(piece)) {
            try write(min(piece, count - offset), at: offset, to: handle)
        }
        try write(page, at: 1 << 30, to: handle)
        #expect(try extent(handle, 0) == Extent(count: Int64(Limits.extentChunks) * page, isHole: false))
        #expect(try data(handle) == [0..<count, (1 << 30)..<((1 << 30) + page)])
        #expect(try extent(handle, count) == Extent(count: (1 << 30) - count, isHole: true))
        try change(.fileSync, handle, [:])
        #expect(try extent(handle, count) == Extent(count: (1 << 30) - count, isHole: true))
    }

    @Test func `random changes leave zeros in holes, and each byte that is not zero in data`() throws {
        var random = SeededGenerator(seed: 7)
        let handle = try open()
        try write(page, at: 0, to: handle)
        var model = [UInt8](repeating: 1, count: Int(page))
        for round in 0..<60 {
            let offset = Int64.random(in: 0..<60_000, using: &random)
            let count = Int64.random(in: 1..<10_000, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                try write(count, at: offset, to: handle)
                model += [UInt8](repeating: 0, count: max(0, Int(offset + count) - model.count))
                model.replaceSubrange(Int(offset)..<Int(offset + count), with: repeatElement(1, count: Int(count)))
            case 2:
                try change(.filePunch, handle, ["offset": .integer(offset), "length": .integer(count)])
                for index in Int(offset)..<Int(offset + count) where index < model.count { model[index] = 0 }
            default:
                try change(.fileTruncate, handle, ["bytes": .integer(offset)])
                model = Array(model.prefix(Int(offset)))
                model += [UInt8](repeating: 0, count: Int(offset) - model.count)
            }
            if round % 7 == 0 { try change(.fileSync, handle, [:]) }
            var holes = model
            for range in try data(handle) {
                try #require(range.upperBound <= model.count, "round \(round)")
                for index in range { holes[Int(index)] = 0 }
            }
            #expect(holes.allSatisfy { $0 == 0 }, "round \(round)")
        }
    }

    @Test func `the end, what is behind it, and a handle that is none`() throws {
        let handle = try open()
        try write(10, at: 0, to: handle)
        #expect(try extent(handle, 9) == Extent(count: 1, isHole: false))
        #expect(try extent(handle, 10) == Extent(count: 0, isHole: true))
        #expect(try extent(handle, Limits.fileBytes) == Extent(count: 0, isHole: true))
        let wrong: [(JSONValue, JSONValue)] = [(handle, -1), (handle, .integer(.max)), (99, 0)]
        for (handle, offset) in wrong {
            let refused = try stepper.perform(.fileExtent, ["handle": handle, "offset": offset])
            #expect(refused.failure?.code == .param)
        }
        try change(.fileTruncate, handle, ["bytes": .integer(Limits.fileBytes)])
        #expect(try extent(handle, page) == Extent(count: Limits.fileBytes - page, isHole: true))
        #expect(try extent(handle, Limits.fileBytes - 1) == Extent(count: 1, isHole: true))
        let writer = try stepper.perform(.fileOpen, ["name": "g", "access": "write", "create": true]).result?["handle"]
        let refused = try stepper.perform(.fileExtent, ["handle": writer ?? .null, "offset": 0])
        #expect(refused.failure?.reason == .badHandle)
    }

    @Test func `a lock ends the extents of a file as it ends reading it`() throws {
        let (secret, plain) = (try open("a", class: .complete), try open("b"))
        for handle in [secret, plain] {
            try write(10, at: 0, to: handle)
            try change(.fileSync, handle, [:])
        }
        stepper.lock()
        #expect(try extent(plain, 0) == Extent(count: 10, isHole: false))
        let refused = try stepper.perform(.fileExtent, ["handle": secret, "offset": 0])
        #expect(refused.failure?.code == .interactionNotAllowed)
    }

    @Test func `the space of a file is that of its data, open or closed, and 0 without any`() throws {
        func stored() throws -> Int64? {
            let stat = try stepper.perform(.fileStat, ["name": "f"]).result
            return stat?["storedBytes"]?.integerValue ?? stat?["bytes"]?.integerValue
        }
        let handle = try open()
        try change(.fileTruncate, handle, ["bytes": 1_073_741_824])
        #expect(try stored() == 0)
        try write(10 * page, at: 1 << 29, to: handle)
        let range = (10 * page)...(20 * page)
        #expect(range.contains(try stored() ?? -1))
        try change(.fileSync, handle, [:])
        #expect(range.contains(try stored() ?? -1))
        try change(.fileClose, handle, [:])
        #expect(range.contains(try stored() ?? -1))
        let listed = try stepper.perform(.fileList).result?["entries"]?.arrayValue?.first?.objectValue
        #expect(range.contains(listed?["storedBytes"]?.integerValue ?? -1))
        #expect(listed?["bytes"] == .integer(1 << 30))
    }
}
