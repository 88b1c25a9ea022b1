import CofferCore
import Foundation

/// Runs another program without overhead that would be measured.
enum Command {
    /// The path of a program, if it is installed.
    static func path(of name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first(where: FileManager.default.isExecutableFile)
    }

    /// Runs a program; its errors go to standard error.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments after its name.
    ///   - discardsOutput: Whether it has output, which is discarded.
    static func run(_ path: String, _ arguments: [String], discardsOutput: Bool = false) throws {
        try run(path, arguments, discardsOutput: discardsOutput) { process, status in
            unsafe waitpid(process, &status, 0) == process
        }
    }

    /// Runs a program, and looks again and again at how much memory it has taken, for which the kernel has no record
    /// afterwards that leaves this program's own out.
    ///
    /// - Returns: The peak in KiB.
    static func memory(_ path: String, _ arguments: [String]) throws -> Int {
        var most = 0
        try run(path, arguments, discardsOutput: true) { process, status in
            while true {
                let ended = unsafe waitpid(process, &status, WNOHANG)
                if ended != 0 { return ended == process }
                let lines = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
                let peak = lines.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
                most = max(most, Int(peak.filter(\.isNumber)) ?? 0)
                usleep(1000)
            }
        }
        return most
    }

    private static func run(
        _ path: String,
        _ arguments: [String],
        discardsOutput: Bool,
        wait: (pid_t, inout Int32) -> Bool
    ) throws {
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if discardsOutput {
            unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        }
        var process = pid_t()
        let code = unsafe posix_spawn(&process, path, &actions, nil, &words, environ)
        var status: Int32 = 0
        guard code == 0, wait(process, &status), status == 0 else {
            throw CofferError(.io, "\(path) \(arguments.joined(separator: " ")) failed")
        }
    }
}

/// An unencrypted file, which is closed with the value.
final class PlainFile {
    let number: Int32

    init(_ path: String, _ flags: Int32) throws {
        number = unsafe open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else {
            throw CofferError(.io, "can't open \(quotedForDisplay(path)): \(unsafe String(cString: strerror(errno)))")
        }
    }

    deinit { close(number) }

    var byteCount: Int {
        var status = stat()
        return unsafe fstat(number, &status) == 0 ? Int(status.st_size) : -1
    }

    func synchronize() throws { try check(Int(fsync(number)), 0, "fsync") }

    func write(_ bytes: [UInt8], at offset: Int64? = nil) throws {
        let count: Int
        if let offset {
            count = unsafe pwrite(number, bytes, bytes.count, off_t(offset))
        } else {
            count = unsafe Foundation.write(number, bytes, bytes.count)
        }
        try check(count, bytes.count, "write")
    }

    func read(into buffer: inout [UInt8], at offset: Int64) throws {
        let wanted = buffer.count
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe pread(number, $0.baseAddress, wanted, off_t(offset)) }
        try check(count, wanted, "read")
    }

    /// Drops the file from the page cache, so that it is read from the disk.
    func forgetCached() {
        posix_fadvise(number, 0, 0, POSIX_FADV_DONTNEED)
        posix_fadvise(number, 0, 0, POSIX_FADV_RANDOM)
    }

    /// Creates a file of incompressible bytes, and syncs it.
    static func make(_ path: String, byteCount: Int) throws {
        let file = try PlainFile(path, O_WRONLY | O_CREAT | O_EXCL)
        var generator = SystemRandomNumberGenerator()
        var block = (0..<(128 << 10)).flatMap { _ in
            unsafe withUnsafeBytes(of: generator.next() as UInt64) { unsafe Array($0) }
        }
        var rest = byteCount
        while rest > 0 {
            if rest < block.count { block.removeLast(block.count - rest) }
            try file.write(block)
            rest -= block.count
        }
        try file.synchronize()
    }

    private func check(_ count: Int, _ wanted: Int, _ what: String) throws {
        guard count == wanted else { throw CofferError(.io, "\(what): \(unsafe String(cString: strerror(errno)))") }
    }
}
