import CofferProcesses
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

@Suite struct `A running tool` {
    private func finish(_ tool: consuming RunningTool) throws -> (output: [UInt8], isSuccess: Bool) {
        var waiting = PollSet()
        waiting.add(tool.number, isReading: true, isWriting: false)
        waiting.wait(for: .seconds(30))
        #expect(waiting.isReady(at: 0))
        return try tool.outcome(upTo: 20)
    }

    @Test(arguments: [("echo yes", "yes\n", true), ("echo no; exit 1", "no\n", false), ("kill -9 $$", "", false)])
    func `is waited for by a descriptor, and gives its output and its success`(
        script: String,
        text: String,
        isSuccess: Bool
    ) throws {
        let outcome = try finish(RunningTool("sh", ["-c", "sleep 0.1; \(script)"]))
        #expect(String(decoding: outcome.output, as: UTF8.self) == text && outcome.isSuccess == isSuccess)
    }

    @Test func `is not held up by what it leaves behind, and its output is cut`() throws {
        let outcome = try finish(RunningTool("sh", ["-c", "sleep 300 2>&- & printf '%07d' $!; head -c 300 /dev/zero"]))
        #expect(outcome.output.count == 20 && outcome.isSuccess)
        let left = try #require(Int32(String(decoding: outcome.output.prefix(7), as: UTF8.self)))
        #expect(kill(left, SIGKILL) == 0)
    }

    @Test func `is killed with its value`() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/pid"
        func number() -> Int32? {
            (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int32($0.trimmingCharacters(in: .newlines)) }
        }
        do {
            let tool = try RunningTool("sh", ["-c", "echo $$ >\(path); exec sleep 300"])
            _ = settles { number() != nil }
            #expect(tool.number >= 0)
        }
        #expect(kill(try #require(number()), 0) == -1)
    }

    @Test func `is spoken with without waiting, and ends with its input`() throws {
        func isReady(_ number: Int32) -> Bool {
            var waiting = PollSet()
            waiting.add(number, isReading: true, isWriting: false)
            waiting.wait(for: .seconds(30))
            return waiting.isReady(at: 0)
        }
        var tool = try RunningTool(conversingWith: "cat")
        var byte: UInt8 = 0
        let count = read(tool.output.number, &byte, 1)
        #expect(count == -1 && errno == EAGAIN)
        try tool.write(Array("echo".utf8).span.bytes)
        let hasAnswered = isReady(tool.output.number)
        #expect(hasAnswered)
        tool.closeInput()
        let hasEnded = isReady(tool.process.number)
        #expect(hasEnded)
        let outcome = try tool.outcome(upTo: 20)
        #expect(String(decoding: outcome.output, as: UTF8.self) == "echo" && outcome.isSuccess)
    }

    @Test func `that is missing is an error`() throws {
        #expect(throws: SystemError.self) { _ = try RunningTool("/nonexistent", []) }
    }
}
