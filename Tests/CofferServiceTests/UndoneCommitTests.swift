import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What is open while the changes of another client are undone.
@Suite(.enabled(if: geteuid() == 0, "only root can mount a disk that is full so soon"))
struct UndoneCommitTests {
    /// A vault on a disk that can be filled.
    private final class Place {
        let directory: TemporaryDirectory
        private(set) var server: TestServer?
        let client: BlockingClient
        let culprit: RawBox
        private var filler: FileHandle?
        private var state: String { directory.appending("state") }

        init() throws {
            directory = try TemporaryDirectory()
            let state = directory.appending("state")
            try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
            let mounted = try runCommand("/bin/mount", ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", state])
            try #require(mounted.status == 0, "\(mounted.errors)")
            // The turn is not ended by a quantum of a clock that stands.
            let server = try TestServer(in: directory, clock: ManualClock().clock)
            self.server = server
            client = try server.connect()
            try client.makeVault(passcode: nil)
            culprit = RawBox(try RawConnection(server))
            try client.put("changed", [1])
            // Written in place before: nothing has to be made to write it again.
            let file = try client.openFile(try ItemName("f"), for: .write, .create)
            try file.put([1, 2, 3], at: 0)
            try file.close()
        }

        deinit {
            server = nil
            _ = try? runCommand("/bin/umount", ["--lazy", state])
        }

        func connect() throws -> RawBox {
            let box = RawBox(try RawConnection(try #require(server)))
            _ = try box.raw.newsUntilAnswer()
            return box
        }

        func fill() throws {
            try CatalogLog.cut(in: state)
            let url = URL(filePath: "\(state)/filler")
            try Data().write(to: url)
            let handle = try FileHandle(forWritingTo: url)
            while (try? handle.write(contentsOf: Data(count: 4096))) != nil {}
            filler = handle
        }

        func makeRoom() throws {
            try filler?.close()
            try FileManager.default.removeItem(atPath: "\(state)/filler")
        }

        /// Does something in the turn whose commit fails, because another client stores more than there is room for.
        func whileUndoing(_ body: () throws -> Void) throws {
            try fill()
            // Of those who have something to do then, the one who has spoken last is the first.
            _ = try culprit.raw.newsUntilAnswer()
            try server?.whileStill {
                try culprit.raw.send(
                    .itemPut,
                    ["name": "changed", "store": "keychain"],
                    payload: pseudoRandomBytes(Limits.secretBytes)
                )
                try body()
            }
            #expect(try culprit.raw.refusal() == .diskFull)
        }
    }

    private static let write: JSONObject = ["name": "f", "access": "write"]
    private static let wait: JSONObject = ["name": "f", "access": "write", "wait": true]

    @Test func `an open that fails with a commit gives the writer's place to one of those who wait`() throws {
        let place = try Place()
        let boxes = try (0..<3).map { _ in try place.connect() }
        try place.whileUndoing { for box in boxes { try box.raw.send(.fileOpen, Self.wait) } }
        #expect(becomesTrue { boxes.contains(where: \.hasArrival) })
        for _ in 0..<3 { _ = try place.client.status() }
        let (answered, waiting) = (boxes.filter(\.hasArrival), boxes.filter { !$0.hasArrival })
        try #require(answered.count == 2, "one at a time writes a file")
        try expectOneWriter(place, answered, waiting)
    }

    private func expectOneWriter(_ place: Place, _ answered: [RawBox], _ waiting: [RawBox]) throws {
        let refusals = try answered.map { try $0.raw.refusal() }
        let failed = answered[try #require(refusals.firstIndex(of: .diskFull))]
        let writer = answered[try #require(refusals.firstIndex(of: nil))]
        try place.makeRoom()
        let other = try Outcome { _ = try place.client.openFile(try ItemName("f"), for: .write) }
        #expect(other == .refused(.notAvailable))
        for box in [writer] + waiting {
            if box !== writer { #expect(try box.raw.refusal() == nil) }
            try box.raw.send(.fileClose, ["handle": 1])
            #expect(try box.raw.refusal() == nil)
        }
        // The one that has failed has nothing open.
        try failed.raw.send(.fileClose, ["handle": 1])
        #expect(try failed.raw.refusal() == .param)
        for _ in 0..<Limits.handles {
            try failed.raw.send(.fileOpen, ["name": "f"])
            #expect(try failed.raw.refusal() == nil)
        }
        try failed.raw.send(.fileOpen, ["name": "f"])
        #expect(try failed.raw.refusal() == .notAvailable)
    }

    @Test func `a request that was cancelled in a turn that is undone stays cancelled`() throws {
        let place = try Place()
        let box = try place.connect()
        try place.whileUndoing {
            try box.raw.send(.fileMkdir, ["name": "d"])
            try box.raw.send(.requestCancel, ["request": 2])
        }
        #expect(try [box.raw.refusal(), box.raw.refusal()] == [nil, .userCanceled])
    }

    @Test func `a file that was made in a turn that is undone is not open, and can be made again`() throws {
        let place = try Place()
        let boxes = try (0..<2).map { _ in try place.connect() }
        try place.whileUndoing {
            for box in boxes {
                try box.raw.send(.fileOpen, ["name": "new", "access": "write", "create": true, "wait": true])
            }
        }
        #expect(try boxes[0].raw.refusal() == .diskFull)
        #expect(try boxes[1].raw.refusal() != nil)
        try place.makeRoom()
        let outcome = try Outcome { _ = try place.client.fileInfo(try ItemName("new")) }
        #expect(outcome == .refused(.itemNotFound))
        let file = try place.client.openFile(try ItemName("new"), for: .readWrite, [.create, .exclusive])
        try file.put([7], at: 0)
        try file.close()
        #expect(try place.client.get("new") == [7])
    }

    @Test func `an open that waited for a file whose making is undone has none open`() throws {
        let place = try Place()
        let boxes = try (0..<3).map { _ in try place.connect() }
        try place.whileUndoing {
            try boxes[0].raw.send(.fileOpen, ["name": "new", "access": "write", "create": true])
            for box in boxes.dropFirst() {
                try box.raw.send(.fileOpen, ["name": "new", "access": "write", "wait": true])
            }
        }
        #expect(try boxes[0].raw.refusal() == .diskFull)
        // Refused in the turn that is undone, it is told of that.
        for box in boxes.dropFirst() { #expect([.itemNotFound, .diskFull].contains(try box.raw.refusal())) }
        try place.makeRoom()
        let file = try place.client.openFile(try ItemName("new"), for: .write, [.create, .exclusive])
        try file.put([7], at: 0)
        try file.close()
        #expect(try place.client.get("new") == [7])
    }

    @Test(arguments: ["read", "write"])
    func `a close that has nothing to store is no failure because another's change is`(access: String) throws {
        let place = try Place()
        let box = try place.connect()
        try box.raw.send(.fileOpen, ["name": "f", "access": .string(access)])
        #expect(try box.raw.refusal() == nil)
        try place.whileUndoing { try box.raw.send(.fileClose, ["handle": 1]) }
        #expect(try box.raw.refusal() == nil)
        try place.makeRoom()
        try box.raw.send(.fileClose, ["handle": 1])
        #expect(try box.raw.refusal() == .param)
        let writer = try Outcome { try place.client.openFile(try ItemName("f"), for: .write).close() }
        #expect(writer == .done)
    }

    @Test func `a write that is not to be stored yet is no failure because another's change is`() throws {
        let place = try Place()
        let box = try place.connect()
        try box.raw.send(.fileOpen, ["name": "f", "access": "write", "append": true])
        #expect(try box.raw.refusal() == nil)
        // Cached: it is written over in the room that the file has.
        try box.raw.send(.fileWrite, ["handle": 1], payload: [4])
        #expect(try box.raw.refusal() == nil)
        try place.whileUndoing { try box.raw.send(.fileWrite, ["handle": 1], payload: [5]) }
        let second = try box.raw.refusal()
        try place.makeRoom()
        try box.raw.send(.fileClose, ["handle": 1])
        #expect(try box.raw.refusal() == nil)
        // A client that is told of a failure writes again: what was refused is not there.
        #expect(try place.client.get("f") == [1, 2, 3, 4] + (second == nil ? [5] : []))
    }

    @Test func `a close whose own sync fails keeps its handle, which can be closed when there is room again`() throws {
        let place = try Place()
        let box = try place.connect()
        try box.raw.send(.fileOpen, Self.write)
        #expect(try box.raw.refusal() == nil)
        try box.raw.send(.fileWrite, ["handle": 1, "offset": 0], payload: [9])
        #expect(try box.raw.refusal() == nil)
        try place.whileUndoing { try box.raw.send(.fileClose, ["handle": 1]) }
        let refusal = try box.raw.refusal()
        try place.makeRoom()
        let writer = try Outcome { try place.client.openFile(try ItemName("f"), for: .write).close() }
        #expect(writer == (refusal == nil ? .done : .refused(.notAvailable)))
        if refusal != nil {
            try box.raw.send(.fileClose, ["handle": 1])
            #expect(try box.raw.refusal() == nil)
        }
        #expect(try place.client.get("f") == [9, 2, 3])
        let after = try Outcome { try place.client.openFile(try ItemName("f"), for: .write).close() }
        #expect(after == .done)
    }
}
