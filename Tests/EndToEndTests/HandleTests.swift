import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Files that are opened, and read and written in place.
@Suite struct HandleTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        return daemon
    }

    private func name(_ path: String) throws -> ItemName { try ItemName(path) }

    // MARK: Contents

    @Test func `what is written anywhere is read back, through any handle, and after a restart`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        try client.put("a", pseudoRandomBytes(200_000)) { $0.kind = .database }
        let writer = try client.openFile(try name("a"), for: .readWrite)
        let reader = try daemon.connect().openFile(try name("a"))
        var expected = pseudoRandomBytes(200_000)
        var random = pseudoRandomBytes(4 * 60, seed: 7).makeIterator()
        func next(_ limit: Int) -> Int {
            let (high, middle, low) = (random.next() ?? 0, random.next() ?? 0, random.next() ?? 0)
            return (Int(high) << 16 | Int(middle) << 8 | Int(low)) % limit
        }
        for step in 0..<40 {
            if step % 10 == 9 {
                let count = next(400_000)
                try writer.truncate(to: Int64(count))
                expected = Array((expected + [UInt8](repeating: 0, count: 400_000)).prefix(count))
            } else {
                let place = next(300_000)
                let piece = pseudoRandomBytes(1 + step * 3_001, seed: UInt64(step + 9))
                try writer.put(piece, at: Int64(place))
                expected += [UInt8](repeating: 0, count: max(0, place + piece.count - expected.count))
                expected.replaceSubrange(place..<(place + piece.count), with: piece)
            }
            if step % 7 == 6 { try writer.sync() }
            let seen = try reader.get()
            #expect(seen == expected, "after step \(step)")
        }
        #expect(writer.byteCount == Int64(expected.count))
        try writer.close()
        try daemon.restart()
        let later = try daemon.connect()
        try later.unlock()
        #expect(try later.openFile(try name("a")).get() == expected)
        let size = try later.show(try name("a")).byteCount
        #expect(size == Int64(expected.count))
        let copy = try daemon.coffer(["get", "a"])
        #expect(copy.output == expected)
    }

    @Test func `a file of 64 GiB takes space only for what was written`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try client.openFile(try name("sparse"), for: .readWrite, .create)
        try file.truncate(to: 64 << 30)
        try file.put([1, 2, 3], at: 64 << 30)
        try file.put([4], at: 32 << 30)
        try file.close()
        let reader = try client.openFile(try name("sparse"))
        #expect(reader.byteCount == 64 << 30 + 3)
        #expect(try reader.get(at: 64 << 30 - 2) == [0, 0, 1, 2, 3])
        #expect(try reader.get(at: 32 << 30 - 1, 3) == [0, 4, 0])
        let zeros = try reader.get(at: 7 << 30, 200_000)
        #expect(zeros == [UInt8](repeating: 0, count: 200_000))
        let used = try runCommand("/usr/bin/du", ["-sk", "blobs"], directory: daemon.statePath).text
        let kibibytes = try #require(used.split(separator: "\t").first.flatMap { Int($0) })
        #expect(kibibytes < 1024)
    }

    @Test func `everything is appended at the end, regardless of its offset`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try client.openFile(try name("log"), for: .write, [.create, .append])
        try file.put([1, 2])
        try file.put([3], at: 0)
        try file.close()
        #expect(try client.openFile(try name("log")).get() == [1, 2, 3])
    }

    @Test func `allocating makes the file longer, with zeros`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try client.openFile(try name("a"), for: .readWrite, .create)
        try file.allocate(at: 100_000, count: 900_000)
        #expect(file.byteCount == 1_000_000)
        try file.put([5], at: 999_999)
        #expect(try file.get(at: 999_998) == [0, 5])
        let tooMuch = try Outcome { try file.allocate(at: 0, count: Limits.fileBytes) }
        #expect(tooMuch == .refused(.diskFull))
        try file.close()
    }

    @Test func `a request beyond the largest file is refused, and the handle lives on`() throws {
        let daemon = try vault()
        let file = try daemon.connect().openFile(try name("a"), for: .readWrite, .create)
        let write = try Outcome { try file.put([1, 2], at: Limits.fileBytes - 1) }
        #expect(write == .refused(.dataTooLarge))
        let cut = try Outcome { try file.truncate(to: Limits.fileBytes + 1) }
        #expect(cut == .refused(.param))
        try file.put([1])
        #expect(try file.get() == [1])
    }

    // MARK: Opening

    @Test func `each way to open says what is in its way`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        try client.put("a/file", [1, 2, 3]) { $0.kind = .database }
        try client.put("secret", [1])
        func outcome(_ path: String, _ access: FileAccess, _ options: FileOpenOptions = []) throws -> Outcome {
            try Outcome { try client.openFile(try name(path), for: access, options).close() }
        }
        #expect(try outcome("nothing", .read) == .refused(.itemNotFound))
        #expect(try outcome("nothing", .write) == .refused(.itemNotFound))
        #expect(try outcome("a/file", .write, [.create, .exclusive]) == .refused(.duplicateItem))
        #expect(try outcome("a/file", .write, .exclusive) == .refused(.param))
        #expect(try outcome("a/file", .read, .truncate) == .refused(.param))
        #expect(try outcome("a/file/below", .write, .create) == .refused(.param))
        #expect(try outcome("a", .write, .create) == .refused(.param))
        #expect(try outcome("secret", .read) == .refused(.itemNotFound))
        #expect(try outcome("secret", .write, .create) == .refused(.duplicateItem))
        #expect(try outcome("a/file", .read) == .done)
        let reader = try client.openFile(try name("a/file"))
        let write = try Outcome { try reader.put([1], at: 0) }
        #expect(write == .refused(.param))
        let writer = try client.openFile(try name("a/file"), for: .write)
        let read = try Outcome { _ = try writer.get() }
        #expect(read == .refused(.param))
    }

    @Test func `a closed handle is invalid`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try client.openFile(try name("a"), for: .write, .create)
        try file.close()
        try file.close()
        let write = try Outcome { try file.put([1]) }
        #expect(write == .refused(.param))
    }

    @Test func `a connection has as many files open as the page says, and no more`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        try client.put("a", [1]) { $0.kind = .database }
        var files: [OpenedFile] = []
        for _ in 0..<Limits.handles { files.append(try client.openFile(try name("a"))) }
        let more = try Outcome { _ = try client.openFile(try name("a")) }
        #expect(more == .refused(.notAvailable))
        try files.removeLast().close()
        let again = try Outcome { _ = try client.openFile(try name("a")) }
        #expect(again == .done)
    }

    @Test func `a file that is rewritten is the old one until it is synced`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let old = pseudoRandomBytes(100_000, seed: 1)
        try client.put("a", old) { $0.kind = .database }
        let file = try client.openFile(try name("a"), for: .write, .truncate)
        try file.put(pseudoRandomBytes(150_000, seed: 2), at: 0)
        try daemon.restart()
        let later = try daemon.connect()
        try later.unlock()
        #expect(try later.openFile(try name("a")).get() == old)
    }

    @Test func `what was synced outlives a kill, and what was not is gone as a whole`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try client.openFile(try name("a"), for: .write, .create, protectionClass: ProtectionClass.none)
        let synced = pseudoRandomBytes(300_000, seed: 3)
        try file.put(synced, at: 0)
        try file.sync()
        try file.put(pseudoRandomBytes(10, seed: 4), at: 65_530)
        try file.truncate(to: 100_000)
        try daemon.restart()
        let later = try daemon.connect()
        #expect(try later.openFile(try name("a")).get() == synced)
    }

    @Test func `a file that is removed while it is open is there for its handle`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let content = pseudoRandomBytes(150_000)
        try client.put("a", content) { $0.kind = .database }
        let file = try client.openFile(try name("a"), for: .readWrite)
        try file.put([1], at: 0)
        try client.remove(try name("a"))
        #expect(try file.get() == [1] + content.dropFirst())
        try file.put([2], at: 1)
        try file.close()
        let gone = try Outcome { _ = try client.openFile(try name("a")) }
        #expect(gone == .refused(.itemNotFound))
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath + "/blobs").count { $0.count > 20 }
                == 0
        )
    }

    @Test(.enabled(if: geteuid() == 0, "only root may see which files a daemon has open"))
    func `a file that is removed while it is open is let go of when its handles are closed`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        for number in 0..<5 {
            let file = try client.openFile(try name("f\(number)"), for: .readWrite, .create)
            try file.put([1])
            if number.isMultiple(of: 2) { try file.sync() }
            try client.remove(try name("f\(number)"))
            try file.put([2])
            #expect(!daemon.removedFiles.isEmpty)
            try file.close()
            #expect(settles { daemon.removedFiles == [] }, "file \(number)")
        }
    }

    // MARK: One writer

    @Test func `a second writer is refused, or waits until the first has closed`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try client.openFile(try name("a"), for: .write, .create)
        let other = try daemon.connect()
        let refused = try Outcome { _ = try other.openFile(try name("a"), for: .readWrite) }
        #expect(refused == .refused(.notAvailable))
        try file.put([1])
        #expect(try other.openFile(try name("a")).get() == [1], "a reader sees it at once")
        let isIn = Shared(false)
        let waiting = Background {
            let second = try other.openFile(try ItemName("a"), for: .write, [.append, .wait])
            isIn.value = true
            try second.put([2])
            try second.close()
        }
        sleepSeconds(0.3)
        #expect(!isIn.value)
        try file.close()
        try waiting.wait()
        #expect(try client.openFile(try name("a")).get() == [1, 2])
    }

    @Test(arguments: [true, false])
    func `a client that dies has its files closed, and what it wrote is kept`(diesWaiting: Bool) throws {
        let daemon = try vault()
        let socket = try UnixSocket.connect(to: daemon.socketPath)
        let number = socket.number
        let client = try BlockingClient(socket: socket)
        let file = try client.openFile(try name("a"), for: .write, .create)
        try file.put([1, 2, 3])
        let other = try daemon.connect()
        let waiting = Background {
            guard diesWaiting else { return }
            try other.openFile(try ItemName("a"), for: .write, .wait).close()
        }
        if diesWaiting { sleepSeconds(0.2) }
        shutdown(number, Int32(SHUT_RDWR))
        try waiting.wait()
        let isFree = try settles {
            let outcome = try Outcome { try other.openFile(try name("a"), for: .write).close() }
            return outcome == .done
        }
        #expect(isFree)
        #expect(try other.openFile(try name("a")).get() == [1, 2, 3])
    }

    @Test func `one who waits and goes away lets the next one in`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try client.openFile(try name("a"), for: .write, .create)
        let socket = try UnixSocket.connect(to: daemon.socketPath)
        let number = socket.number
        let impatient = try BlockingClient(socket: socket)
        let waiting = Background {
            try Outcome { _ = try impatient.openFile(try ItemName("a"), for: .write, .wait) }
        }
        sleepSeconds(0.2)
        shutdown(number, Int32(SHUT_RDWR))
        let gone = try waiting.wait()
        #expect(gone == .refused(.notAvailable))
        let other = try daemon.connect()
        let next = Background { try other.openFile(try ItemName("a"), for: .write, .wait).close() }
        sleepSeconds(0.2)
        try file.close()
        try next.wait()
    }

    // MARK: Damage

    @Test func `a damaged chunk costs that chunk, and the rest is salvaged`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        var content = pseudoRandomBytes(300_000)
        try client.put("a", content) { $0.kind = .database }
        let blobs = daemon.statePath + "/blobs"
        let blob = try #require(
            FileManager.default.subpathsOfDirectory(atPath: blobs).first {
                ($0 as NSString).lastPathComponent.count == 32
            }
        )
        let file = try #require(FileHandle(forUpdatingAtPath: "\(blobs)/\(blob)"))
        try file.seek(toOffset: 150_000)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: 150_000)
        try file.write(contentsOf: [byte ^ 1])
        let opened = try client.openFile(try name("a"))
        #expect(try opened.get(at: 0, 131_072) == Array(content.prefix(131_072)))
        let damaged = try Outcome { _ = try opened.get(at: 140_000, 1) }
        #expect(damaged == .refused(.decode))
        let path = try daemon.directory.write([], to: "salvaged")
        let target = try #require(FileHandle(forWritingAtPath: path))
        let salvage = try client.salvage(try name("a"), into: target.fileDescriptor)
        content.replaceSubrange(131_072..<196_608, with: [UInt8](repeating: 0, count: 65_536))
        #expect(salvage.damaged == [DamagedRange(offset: 131_072, byteCount: 65_536)])
        #expect(salvage.damagedByteCount == 65_536)
        #expect(salvage.byteCount == 300_000)
        let saved = Array(try Data(contentsOf: URL(filePath: path)))
        #expect(saved == content)
    }
}
