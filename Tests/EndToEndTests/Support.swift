import CofferTestSupport
import Foundation
import Testing

/// Waits: for what a clock has to bring about.
func sleepSeconds(_ seconds: Double) { usleep(UInt32(seconds * 1_000_000)) }

/// A pipe: what is written to one end is read from the other.
struct PipeEnds {
    let reading: Int32
    let writing: Int32

    init() throws {
        // A reader that is gone is an error, and not the end of the tests.
        signal(SIGPIPE, SIG_IGN)
        var numbers: [Int32] = [-1, -1]
        let code = pipe(&numbers)
        try #require(code == 0)
        for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        reading = numbers[0]
        writing = numbers[1]
    }
}

/// Reads a descriptor to its end.
func drain(_ number: Int32) -> [UInt8] {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(number, &piece, piece.count), count > 0 { all += piece.prefix(count) }
    return all
}

/// Writes everything, as long as the peer reads.
@discardableResult func writeAll(_ number: Int32, _ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
        if count <= 0 { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// Where `coffer put --json` says that it has put an item, in words: `in the keychain as WhenUnlocked (R6)`.
func placement(ofJSON text: String) throws -> String {
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let store = try #require(object["store"] as? String) == "file" ? "file store" : "keychain"
    let protection = try #require((object["protection"] ?? object["accessible"]) as? String)
    return "in the \(store) as \(protection) (\(try #require(object["rule"] as? String)))"
}

extension DaemonProcess {
    /// Puts an item, and says where it went; its text is that of ``placement(ofJSON:)``.
    func put(_ arguments: [String], input: [UInt8] = []) throws -> CommandResult {
        let result = try coffer(["put"] + arguments + ["--json"], input: input)
        if result.status != 0 { return result }
        let text = try placement(ofJSON: result.text)
        return CommandResult(status: 0, output: Array(text.utf8), errors: result.errors)
    }
}
