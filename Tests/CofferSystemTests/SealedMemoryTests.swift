import CofferSystem
import Foundation
import Testing

@Suite struct SealedMemoryTests {
    private static let content = Array("what is kept".utf8)

    @Test func `it holds what it was made with`() throws {
        let memory = try SealedMemory.make("test", holding: Self.content.span.bytes)
        let found = try SealedMemory.contents(of: memory, byteCount: Self.content.count)
        #expect(found == Self.content)
    }

    @Test func `nobody can change it, nor its size, nor its seals`() throws {
        let memory = try SealedMemory.make("test", holding: Self.content.span.bytes)
        let written = pwrite(memory.number, "x", 1, 0)
        let grown = ftruncate(memory.number, 100)
        let shrunk = ftruncate(memory.number, 1)
        #expect(written == -1)
        #expect(grown == -1)
        #expect(shrunk == -1)
        let mapped = mmap(nil, 12, PROT_WRITE, MAP_SHARED, memory.number, 0)
        #expect(mapped == MAP_FAILED)
    }

    @Test func `another size is refused`() throws {
        let memory = try SealedMemory.make("test", holding: Self.content.span.bytes)
        for byteCount in [0, Self.content.count - 1, Self.content.count + 1] {
            let found = try SealedMemory.contents(of: memory, byteCount: byteCount)
            #expect(found == nil)
        }
    }

    @Test func `what is no sealed memory is refused`() throws {
        let temporary = try TemporaryDirectory()
        try temporary.write("what is kept", to: "file")
        let file = OwnedDescriptor(owning: open(temporary.path("file"), O_RDONLY | O_CLOEXEC))
        let ofFile = try SealedMemory.contents(of: file, byteCount: Self.content.count)
        #expect(ofFile == nil)
        // A memory file that its creator can still change, like any file of /dev/shm.
        let path = "/dev/shm/coffer-test-\(UUID().uuidString)"
        try Data(Self.content).write(to: URL(filePath: path))
        defer { unlink(path) }
        let shared = OwnedDescriptor(owning: open(path, O_RDWR | O_CLOEXEC))
        let ofShared = try SealedMemory.contents(of: shared, byteCount: Self.content.count)
        #expect(ofShared == nil)
    }
}
