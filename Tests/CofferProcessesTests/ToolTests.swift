import CofferProcesses
import CofferSystem
import Glibc
import Testing

/// Programs that are run for their output.
@Suite struct ToolTests {
    private func run(
        _ path: String,
        _ arguments: [String],
        input: [UInt8] = [],
        room: Int = 64
    ) throws -> (
        answer: [UInt8], isSuccess: Bool, lastWords: String
    ) {
        var answer = [UInt8](repeating: 0, count: room)
        let outcome = try answer.withUnsafeMutableBytes {
            try Tool.run(path, arguments, input: input.span.bytes, into: $0)
        }
        return (Array(answer.prefix(outcome.count)), outcome.isSuccess, outcome.lastWords)
    }

    @Test func `a tool gets bytes and answers with bytes`() throws {
        let input = [UInt8]((0...255).map { UInt8($0) })
        let outcome = try run("cat", [], input: input, room: 300)
        #expect(outcome.answer == input)
        #expect(outcome.isSuccess)
        #expect(outcome.lastWords == "")
    }

    @Test func `a tool that fails says why`() throws {
        let outcome = try run("sh", ["-c", "echo first >&2; echo 'no such key' >&2; exit 3"])
        #expect(!outcome.isSuccess)
        #expect(outcome.lastWords == "no such key")
    }

    @Test func `a tool is ended by a signal that is blocked here`() throws {
        let signals = try HeldSignals([SIGUSR1])
        let outcome = try run("sh", ["-c", "kill -USR1 $$; printf goes"])
        withExtendedLifetime(signals) {}
        #expect(!outcome.isSuccess)
        #expect(outcome.answer.isEmpty)
    }

    @Test func `a tool gets one descriptor besides its streams if it is passed, as number 3`() throws {
        let file = try OwnedDescriptor.open("/dev/null", O_RDONLY)
        var answer = [UInt8](repeating: 0, count: 64)
        let outcome = try answer.withUnsafeMutableBytes {
            let script = "readlink /proc/self/fd/3; ls /proc/self/fd | wc -l"
            return try Tool.run("sh", ["-c", script], into: $0, passing: file.number)
        }
        #expect(String(decoding: answer.prefix(outcome.count), as: UTF8.self) == "/dev/null\n5\n")
    }

    @Test func `a tool has none of our descriptors, and no more room than is given`() throws {
        let listed = try run("sh", ["-c", "ls /proc/self/fd | wc -l"])
        // The three streams, and the directory that it reads.
        #expect(listed.answer == Array("4\n".utf8))
        #expect(throws: SystemError.self) { try run("sh", ["-c", "printf %065d 0"]) }
        #expect(try run("sh", ["-c", "printf %064d 0"]).answer.count == 64)
        #expect(throws: SystemError.self) { try run("echo", [], room: 0) }
        #expect(try run("true", [], room: 0).isSuccess)
        #expect(throws: SystemError.self) { try run("/there/is/none", []) }
    }
}
