import CSQLite
import CofferCore
import CofferDatabase
import Foundation
import Synchronization
import Testing

/// Has the calls fail by which SQLite reads and writes files: all of the process, so it is for exit tests.
private enum Fault {
    static let ofReads = Atomic<Int32>(0)
    static let ofWrites = Atomic<Int32>(0)

    private typealias Read = @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int
    private typealias Write = @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int

    static func install() throws {
        let system = try #require(sqlite3_vfs_find(nil))
        let read: Read = { file, bytes, count, offset in
            let code = Fault.ofReads.load(ordering: .relaxed)
            if code == 0 { return pread(file, bytes, count, offset) }
            errno = code
            return -1
        }
        let write: Write = { file, bytes, count, offset in
            let code = Fault.ofWrites.load(ordering: .relaxed)
            if code == 0 { return pwrite(file, bytes, count, offset) }
            errno = code
            return -1
        }
        for name in ["pread", "pread64"] {
            _ = system.pointee.xSetSystemCall(system, name, unsafeBitCast(read, to: sqlite3_syscall_ptr.self))
        }
        for name in ["pwrite", "pwrite64"] {
            _ = system.pointee.xSetSystemCall(system, name, unsafeBitCast(write, to: sqlite3_syscall_ptr.self))
        }
    }
}

@Suite struct `An error of the system under the database` {
    @Test func `at a read is one of the disk and not damage, at any statement, and the next one works`() async {
        await #expect(processExitsWith: .success) {
            try Fault.install()
            for code in [EIO, ENXIO] {
                let directory = try TemporaryDirectory()
                do {
                    let connection = try Connection.migrated(directory.path())
                    for number in 0..<200 { try connection.add("item-\(number)", bytes: 3000) }
                }
                // None of it is in SQLite's memory yet.
                let connection = try Connection.migrated(directory.path())
                Fault.ofReads.store(code, ordering: .relaxed)
                let refusals = [
                    failure { _ = try connection.names },
                    failure { try connection.add("new") },
                    failure { try connection.transaction { try connection.add("new") } },
                    failure { _ = try connection.checkIntegrity() },
                ]
                Fault.ofReads.store(0, ordering: .relaxed)
                for refusal in refusals {
                    try #require(refusal?.kind == .ioError)
                    let error = try #require(refusal?.cofferError)
                    try #require(error.code == .io)
                    try #require(!error.message.contains("damaged") && !error.message.contains("malformed"))
                    try #require(error.hint?.contains("disk") == true)
                }
                try #require(connection.names.count == 200)
                try connection.add("new")
                try #require(connection.names.count == 201)
            }
        }
    }

    @Test func `at a read is none of damage either once all of a batch is lost by it`() async {
        await #expect(processExitsWith: .success) {
            try Fault.install()
            let directory = try TemporaryDirectory()
            do {
                let connection = try Connection.migrated(directory.path())
                for number in 0..<200 { try connection.add("item-\(number)", bytes: 3000) }
            }
            let connection = try Connection.migrated(directory.path())
            try connection.beginBatch()
            try connection.add("before")
            let refusals = [
                failure {
                    try connection.transaction {
                        try connection.add("within", bytes: 3000)
                        Fault.ofReads.store(EIO, ordering: .relaxed)
                        try connection.execute("UPDATE items SET sealed = zeroblob(10)")
                    }
                },
                failure { try connection.add("after") },
                failure { try connection.commitBatch() },
            ]
            Fault.ofReads.store(0, ordering: .relaxed)
            for refusal in refusals {
                let error = try #require(refusal?.cofferError)
                try #require(error.code == .io, "\(error)")
                try #require(!error.message.contains("malformed"), "\(error)")
            }
            try #require(connection.names.count == 200)
            try #require(connection.faults.first == nil)
        }
    }

    @Test func `at a write is a full disk, where it is one of room, and says which`() async {
        await #expect(processExitsWith: .success) {
            try Fault.install()
            let words: [(Int32, ErrorCode, String)] = [
                (ENOSPC, .diskFull, "the disk is full"), (EDQUOT, .diskFull, "quota"),
                (EFBIG, .diskFull, "file-size limit"), (EROFS, .io, "read-only"), (EIO, .io, "disk I/O error"),
            ]
            let directory = try TemporaryDirectory()
            let connection = try Connection.migrated(directory.path())
            for (code, expected, words) in words {
                Fault.ofWrites.store(code, ordering: .relaxed)
                let refusals = [
                    failure { try connection.add("a", bytes: 10_000) },
                    failure { try connection.transaction { try connection.add("b", bytes: 10_000) } },
                    failure {
                        try connection.beginBatch()
                        try connection.add("c", bytes: 10_000)
                        try connection.commitBatch()
                    },
                    failure {
                        try connection.transaction {
                            try connection.add("e", bytes: 200_000)
                            try connection.reserveRoom()
                        }
                    },
                ]
                Fault.ofWrites.store(0, ordering: .relaxed)
                for refusal in refusals {
                    let error = try #require(refusal?.cofferError)
                    try #require(error.code == expected)
                    try #require(error.message.contains(words))
                }
                try #require(connection.names == [])
            }
            try connection.add("d")
            try #require(connection.names == ["d"])
        }
    }

    @Test func `is no reason to take a file for whole that is damaged`() throws {
        let directory = try TemporaryDirectory()
        do {
            let connection = try Connection.migrated(directory.path())
            for number in 0..<60 { try connection.add("item-\(number)", bytes: 400) }
        }
        var bytes = try directory.contents()
        for page in 1..<(bytes.count / 4096) {
            bytes.replaceSubrange(page * 4096..<(page * 4096 + 100), with: repeatElement(0xA5, count: 100))
        }
        try directory.write(bytes)
        let connection = try Connection(path: directory.path())
        errno = EIO
        let refusal = failure { _ = try connection.names }
        #expect(refusal?.kind == .damaged)
        #expect(refusal?.cofferError.code == .decode)
    }
}
