import CofferCore
import CofferHandlers
import CofferFiles
import CofferTestSupport
import CofferVault
import CofferWire
import Testing

/// Handlers of files are functions: they are tested without a daemon, step by step.
@Suite struct FileHandlerTests {
    private let stepper: Stepper

    init() throws { stepper = try Stepper() }

    @Test func `a file is written by one at a time, and read by all`() throws {
        let first = try stepper.perform(.fileOpen, ["name": "f", "access": "write", "create": true])
        #expect(first.failure == nil)
        let refused = try stepper.perform(.fileOpen, ["name": "f", "access": "write"])
        #expect(refused.failure?.code == .notAvailable)
        let reader = try stepper.perform(.fileOpen, ["name": "f"])
        #expect(reader.failure == nil)
        #expect(stepper.owner.handles.count == 2)
        let close = try stepper.perform(.fileClose, ["handle": first.result?["handle"] ?? .null])
        #expect(close.failure == nil)
        let second = try stepper.perform(.fileOpen, ["name": "f", "access": "write"])
        #expect(second.failure == nil)
        #expect(stepper.owner.handles.count == 2)
    }

    @Test func `two writes of a file come one after the other, and a sync after what came before it`() throws {
        let handle = try stepper.perform(.fileOpen, ["name": "f", "access": "readWrite", "create": true]).result?[
            "handle"
        ]
        let params: JSONObject = ["handle": handle ?? .null, "offset": 0]
        // Smaller ones would be written at once.
        let (count, most) = (Limits.writeAtOnceBytes + 1, Limits.writeAtOnceBytes + 2)
        let (one, two) = (
            try stepper.begin(.fileWrite, params, [UInt8](repeating: 1, count: most)),
            try stepper.begin(.fileWrite, params, [UInt8](repeating: 2, count: count))
        )
        guard case .claim(let claim) = one.wait else { throw CofferError(.internal, "it claims nothing") }
        #expect(two.wait == .claim(claim))
        one.resume()
        #expect(one.wait == .work)
        two.resume()
        #expect(two.wait == .claim(claim), "the first one has the file")
        one.resume()
        #expect(one.wait == nil)
        two.finish()
        #expect(two.failure == nil)
        let sync = try stepper.begin(.fileSync, ["handle": handle ?? .null])
        var waits: [Begun.Wait?] = []
        while sync.wait != nil {
            waits.append(sync.wait)
            sync.resume()
        }
        #expect(waits == [.claim(claim), .work, .commit])
        #expect(sync.failure == nil)
        let end: JSONObject = ["handle": handle ?? .null, "offset": .integer(Int64(count - 2)), "length": 10]
        let read = try stepper.perform(.fileRead, end)
        #expect(read.payload == [2, 2, 1])
    }

    @Test func `a sync of the tree waits for a sync of closed files that is under way`() throws {
        stepper.owner.choice.defersSyncs = true
        let opened = try stepper.perform(.fileOpen, ["name": "f", "access": "readWrite", "create": true])
        let handle = opened.result?["handle"] ?? .null
        #expect(try stepper.perform(.fileWrite, ["handle": handle, "offset": 0], [1, 2, 3]).failure == nil)
        #expect(try stepper.perform(.fileClose, ["handle": handle]).failure == nil)
        #expect(stepper.handlers.file.hasDeferred)
        stepper.handlers.file.syncDeferred()
        let underWay = try #require(stepper.beginChore())
        guard case .claim(let claim)? = underWay.wait else { throw CofferError(.internal, "it claims nothing") }
        underWay.resume()
        let sync = try stepper.begin(.fileSyncTree, ["closedFiles": true])
        #expect(sync.wait == .claim(claim))
        sync.resume()
        #expect(sync.wait == .claim(claim), "the sync that is under way has the file")
        underWay.finish()
        #expect(underWay.failure == nil)
        sync.finish()
        #expect(sync.failure == nil)
        #expect(!stepper.handlers.file.hasDeferred)
    }

    @Test func `of files that are closed, no more than a bound wait for their sync`() throws {
        stepper.owner.choice.defersSyncs = true
        // Some are being synced meanwhile.
        for number in 0..<Limits.closedFiles + Limits.closedFilesAtOnce + 20 {
            let made: JSONObject = ["name": .string("many/\(number)"), "access": "readWrite", "create": true]
            let handle = try stepper.perform(.fileOpen, made).result?["handle"] ?? .null
            #expect(try stepper.perform(.fileWrite, ["handle": handle, "offset": 0], [1]).failure == nil)
            #expect(try stepper.perform(.fileClose, ["handle": handle]).failure == nil)
            #expect(stepper.shared.filesInUse.closed.count <= Limits.closedFiles)
        }
        #expect(stepper.shared.filesInUse.areTooMany)
    }

    @Test func `while too much is not synced, a change is synced before its answer`() throws {
        stepper.owner.choice.defersSyncs = true
        let handles: [Int64] = try ["a", "b"].map { name in
            let made: JSONObject = ["name": .string(name), "access": "readWrite", "create": true]
            return try #require(try stepper.perform(.fileOpen, made).result?["handle"]?.integerValue)
        }
        let files = try handles.map { try stepper.owner.handles[$0].file }
        for isMuch in [false, true] {
            let cut: JSONObject = ["handle": .integer(handles[0]), "bytes": isMuch ? 7 : 5]
            #expect(try stepper.perform(.fileTruncate, cut).failure == nil)
            #expect(files[0].hasChanges == !isMuch)
            let openFiles = try #require(stepper.vault.openCatalog).files.openFiles
            // More than half of what is logged before the log is written anew.
            let change = FileChange(holes: Array(0..<70_000), time: 1)
            for _ in 0..<2 { try openFiles.make(change, in: files[1], isLogged: true) }
        }
    }

    @Test func `many closed files are synced together, and are there as they were written`() throws {
        stepper.owner.choice.defersSyncs = true
        for number in UInt8(0)..<20 {
            let made: JSONObject = ["name": .string("many/\(number)"), "access": "readWrite", "create": true]
            let handle = try stepper.perform(.fileOpen, made).result?["handle"] ?? .null
            #expect(try stepper.perform(.fileWrite, ["handle": handle, "offset": 0], [1, 2, number]).failure == nil)
            #expect(try stepper.perform(.fileClose, ["handle": handle]).failure == nil)
        }
        #expect(stepper.handlers.file.hasDeferred)
        #expect(try stepper.perform(.fileSyncTree, ["closedFiles": true]).failure == nil)
        #expect(!stepper.handlers.file.hasDeferred)
        for number in UInt8(0)..<20 {
            let handle = try stepper.perform(.fileOpen, ["name": .string("many/\(number)")]).result?["handle"] ?? .null
            let read = try stepper.perform(.fileRead, ["handle": handle, "offset": 0, "length": 9])
            #expect(read.payload == [1, 2, number])
        }
    }

    @Test func `a small write is written in its step, once it has the file`() throws {
        let handle = try stepper.perform(.fileOpen, ["name": "f", "access": "readWrite", "create": true]).result?[
            "handle"
        ]
        let write = try stepper.begin(.fileWrite, ["handle": handle ?? .null, "offset": 0], [1, 2, 3])
        guard case .claim = write.wait else { throw CofferError(.internal, "it claims nothing") }
        write.resume()
        #expect(write.wait == nil)
        #expect(write.failure == nil)
        let read = try stepper.perform(.fileRead, ["handle": handle ?? .null, "offset": 1, "length": 10])
        #expect(read.payload == [2, 3])
    }

    @Test func `a handle of class A that is locked between the claim and the write writes nothing`() throws {
        let opened = try stepper.perform(
            .fileOpen,
            ["name": "f", "access": "write", "create": true, "class": .string(ProtectionClass.complete.rawValue)]
        )
        let write = try stepper.begin(.fileWrite, ["handle": opened.result?["handle"] ?? .null], [1])
        stepper.lock()
        write.finish()
        #expect(write.failure?.code == .interactionNotAllowed)
        let stat = try stepper.perform(.fileStat, ["name": "f"])
        #expect(stat.result?["bytes"] == 0)
    }

    @Test func `an open that fails gives back the place of its handle and that of the writer`() throws {
        let name: JSONObject = ["name": "f", "access": "write", "create": true]
        let opened = try stepper.perform(.fileOpen, name)
        _ = try stepper.perform(.fileClose, ["handle": opened.result?["handle"] ?? .null])
        let cut = try stepper.begin(.fileOpen, ["name": "f", "access": "write", "truncate": true])
        #expect(cut.wait != nil)
        #expect(stepper.owner.handles.count == 1, "the one that is being opened counts")
        cut.call.cancel()
        cut.finish()
        #expect(stepper.owner.handles.count == (cut.failure == nil ? 1 : 0))
        if cut.failure == nil { _ = try stepper.perform(.fileClose, ["handle": cut.result?["handle"] ?? .null]) }
        let again = try stepper.perform(.fileOpen, name)
        #expect(again.failure == nil)
    }
}
