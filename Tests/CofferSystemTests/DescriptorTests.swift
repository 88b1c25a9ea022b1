import CofferCore
import CofferSystem
import Foundation
import Testing

@Suite struct `An owned descriptor` {
    // The number is a high one: the runtime's threads open descriptors of their own, with the lowest number that is free.
    @Test func `is closed once, when its owner lets go`() async {
        await #expect(processExitsWith: .success) {
            var number: Int32 = -1
            do {
                let file = OwnedDescriptor(owning: fcntl(0, F_DUPFD_CLOEXEC, 500))
                number = file.number
                #expect(number >= 500)
                #expect(isOpen(number))
            }
            #expect(!isOpen(number))
            #expect(dup2(0, number) == number)
            #expect(isOpen(number), "the number belongs to its new owner, and the first one does not close it again")
        }
    }

    @Test(arguments: [0, 1, 16_383, 16_384, 16_385, 50_000])
    func `has a content that is read whole, or up to one byte more than it may have`(count: Int) throws {
        let directory = try TemporaryDirectory()
        let content = String(repeating: "0123456789", count: count / 10) + String(repeating: "x", count: count % 10)
        try directory.write(content, to: "file")
        for maximum in [0, 100, 16_383, 16_384, 49_999, 50_000, 1 << 20] {
            let read = try OwnedDescriptor.content(ofFile: directory.path("file"), upTo: maximum)
            #expect(read == Array(content.utf8.prefix(maximum + 1)))
        }
        #expect(try OwnedDescriptor.content(ofFile: directory.path("nothing"), upTo: 10) == nil)
    }

    @Test func `is left open when it is given up`() async {
        await #expect(processExitsWith: .success) {
            let file = OwnedDescriptor(owning: open("/dev/null", O_RDONLY))
            let number = file.release()
            #expect(isOpen(number))
        }
    }

    @Test func `has duplicates that live on, and are closed on exec`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("hello", to: "file")
        let file = OwnedDescriptor(owning: open(directory.path("file"), O_RDONLY))
        let copy = try file.duplicate()
        #expect(copy.number != file.number)
        #expect(fcntl(copy.number, F_GETFD) & FD_CLOEXEC != 0)
        _ = consume file
        #expect(try copy.readText() == "hello")
    }

    @Test func `reads at an offset up to the end of the file`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("0123456789", to: "file")
        let file = OwnedDescriptor(owning: open(directory.path("file"), O_RDONLY))
        for (offset, count, expected) in [(0, 4, "0123"), (8, 4, "89"), (10, 4, ""), (100, 4, ""), (3, 0, "")] {
            var buffer = [UInt8](repeating: 0, count: count)
            let read = try buffer.withUnsafeMutableBytes { buffer in
                Result { () throws(SystemError) in try file.read(into: buffer, at: Int64(offset)) }
            }.get()
            #expect(String(decoding: buffer[..<read], as: UTF8.self) == expected)
        }
    }

    @Test func `writes a few bytes at once to a pipe or a socket, or none`() throws {
        signal(SIGPIPE, SIG_IGN)
        let bytes = [UInt8](repeating: 7, count: 64)
        func refusal(_ number: Int32) -> Int32? {
            let copy = OwnedDescriptor(owning: fcntl(number, F_DUPFD_CLOEXEC, 3))
            do throws(SystemError) {
                try copy.writeAtOnce(bytes.span.bytes)
                return nil
            } catch { return error.code }
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        #expect(refusal(ends[1]) == nil)
        #expect(read(ends[0], &buffer, buffer.count) == 64 && Array(buffer.prefix(64)) == bytes)
        let filler = open("/proc/self/fd/\(ends[1])", O_WRONLY | O_NONBLOCK)
        var room = 0
        while write(filler, buffer, 4096) == 4096 { room += 4096 }
        close(filler)
        #expect(refusal(ends[1]) == EAGAIN)
        #expect(read(ends[0], &buffer, buffer.count) == room, "it has nothing of what was refused")
        #expect(fcntl(ends[1], F_GETFL) & O_NONBLOCK == 0, "its owner waits at it as before")
        close(ends[0])
        #expect(refusal(ends[1]) == EPIPE)
        close(ends[1])

        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        #expect(refusal(ends[1]) == nil)
        #expect(read(ends[0], &buffer, buffer.count) == 64 && Array(buffer.prefix(64)) == bytes)
        while send(ends[1], buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
        while send(ends[1], buffer, 1, Int32(MSG_DONTWAIT)) > 0 {}
        #expect(refusal(ends[1]) == EAGAIN)
        close(ends[0])
        #expect(refusal(ends[1]) == EPIPE)
        close(ends[1])
        let device = open("/dev/null", O_WRONLY)
        #expect(refusal(device) == EINVAL)
        close(device)
    }

    @Test func `says which system call failed, and why`() throws {
        let directory = try TemporaryDirectory()
        let descriptor = OwnedDescriptor(owning: open(directory.path, O_RDONLY | O_DIRECTORY))
        do {
            try descriptor.write(all: [UInt8]([1]).span.bytes)
            Issue.record("a directory can't be written")
        } catch {
            #expect(error.code == EBADF)
            #expect(error.reason == "bad file descriptor")
            #expect(error.cofferError("can't store 'a'").message == "can't store 'a': bad file descriptor (write)")
            #expect(error.cofferError("").code == .io)
        }
        #expect(SystemError("write", code: ENOSPC).cofferError("").code == .diskFull)
        #expect(SystemError("write", code: EDQUOT).cofferError("").code == .diskFull)
        let tooLarge = SystemError("write", code: EFBIG).cofferError("can't store 'a'")
        #expect(tooLarge.code == .diskFull)
        #expect(tooLarge.message.contains("file-size limit"))
        let readOnly = SystemError("open", code: EROFS).cofferError("can't store 'a'")
        #expect(readOnly.code == .io)
        #expect(readOnly.message == "can't store 'a': the file system is read-only")
    }

    @Test(arguments: [Int64(1) << 40, 1 << 50])
    func `takes no room where there is too little for all of it`(count: Int64) throws {
        let directory = try TemporaryDirectory()
        let descriptor = OwnedDescriptor(owning: open(directory.path + "/file", O_RDWR | O_CREAT, 0o600))
        try descriptor.write(all: [UInt8]([1, 2, 3]).span.bytes)
        let before = try descriptor.status()
        do throws(SystemError) {
            try descriptor.reserve(count, at: 65_536)
            Issue.record("this machine has a disk of \(count) bytes")
        } catch {
            #expect(error.code == ENOSPC)
        }
        let after = try descriptor.status()
        #expect(after.st_size == before.st_size)
        #expect(after.st_blocks == before.st_blocks)
        try descriptor.reserve(100_000, at: 65_536)
        #expect(try descriptor.status().st_size == 165_536)
    }
}
