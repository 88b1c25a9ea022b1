import CofferSystem
import Foundation
import Glibc
import Synchronization
import Testing

/// A directory for one test, removed when the test ends.
final class TemporaryDirectory: Sendable {
    let path = NSTemporaryDirectory() + "coffer-system-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    func contents(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: path(name)).map { Array($0) } }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(filePath: path(name))) }

    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }
}

/// Fails the Nth operation that changes the disk, or all from there on, and counts the operations.
final class Saboteur: Sendable {
    private let count = Mutex(0)
    private let target: Int
    private let isLasting: Bool
    private let log = Mutex<[FileSystem.Operation]>([])

    init(failing target: Int, forGood isLasting: Bool = false) {
        self.target = target
        self.isLasting = isLasting
    }

    /// Whether the operation to fail was reached.
    var hasStruck: Bool { count.withLock { $0 >= target } }

    var operations: [FileSystem.Operation] { log.withLock { $0 } }

    var fileSystem: FileSystem {
        FileSystem(intercept: { (operation) throws(SystemError) in
            self.log.withLock { $0.append(operation) }
            let number = self.count.withLock { count in
                count += 1
                return count
            }
            if number == self.target || self.isLasting && number > self.target {
                throw SystemError("sabotage", code: ENOSPC)
            }
        })
    }
}

/// The error of an operation that must fail; `nil` if it succeeds.
func failure<Value: ~Copyable>(_ body: () throws(SystemError) -> Value) -> Int32? {
    do throws(SystemError) {
        _ = try body()
        return nil
    } catch {
        return error.code
    }
}

/// Makes a pipe that no child of this process inherits: an inherited end would keep it open.
///
/// The Swift module of the C library has no `pipe2`; a named pipe can be opened close-on-exec.
///
/// - Returns: The end for reading, then the one for writing.
func makePipe() throws -> [Int32] {
    let path = NSTemporaryDirectory() + "coffer-pipe-\(UUID().uuidString)"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let writing = open(path, O_WRONLY | O_CLOEXEC)
    try #require(reading >= 0 && writing >= 0)
    try #require(fcntl(reading, F_SETFL, fcntl(reading, F_GETFL) & ~O_NONBLOCK) == 0)
    return [reading, writing]
}

/// Both ends of a pipe.
struct Pipe: ~Copyable {
    let reading: OwnedDescriptor
    let writing: OwnedDescriptor

    init() throws {
        let numbers = try makePipe()
        reading = OwnedDescriptor(owning: numbers[0])
        writing = OwnedDescriptor(owning: numbers[1])
    }
}

extension OwnedDescriptor {
    /// Reads the available text.
    borrowing func readText() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(number, &buffer, buffer.count)
        try #require(count >= 0)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    borrowing func writeText(_ text: String) throws {
        try #require(Glibc.write(number, text, text.utf8.count) == text.utf8.count)
    }
}

func isOpen(_ number: Int32) -> Bool { fcntl(number, F_GETFD) >= 0 }
