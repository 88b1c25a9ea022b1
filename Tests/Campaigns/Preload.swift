import CofferTestSupport
import Foundation

/// The library that intercepts the daemon's calls of the C library: `Tests/CampaignPreload/preload.c`.
final class Preload {
    private let directory: TemporaryDirectory
    private let library: String

    /// Compiles the library.
    init() throws {
        directory = try TemporaryDirectory()
        library = directory.appending("preload.so")
        let source = "\(Project.root)/Tests/CampaignPreload/preload.c"
        let compiled = try runCommand(
            "/usr/bin/env",
            ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, source]
        )
        try expect(compiled.status == 0, "cc: \(compiled.errors)")
    }

    /// The command that starts a daemon with the library.
    ///
    /// - Parameters:
    ///   - statePath: The state directory.
    ///   - control: The shared memory that controls the library.
    ///   - logPath: The path of the recording.
    ///   - isQuick: Whether syncs and key derivation cost next to nothing.
    func launcher(
        statePath: String,
        _ control: Control,
        logPath: String? = nil,
        isQuick: Bool = false
    ) -> [String] {
        let variables = [
            "LD_PRELOAD=\(library)", "CAMPAIGN_STATE=\(statePath)", "CAMPAIGN_CONTROL=\(control.path)",
        ]
        return DaemonProcess.endingWithUs + ["/usr/bin/env"] + variables
            + (logPath.map { ["CAMPAIGN_LOG=\($0)"] } ?? []) + (isQuick ? ["CAMPAIGN_QUICK=1"] : [])
    }
}

/// Memory that is shared with the library, for commands and counters.
final class Control {
    /// The calls that can fail, with the library's numbers.
    enum Kind: Int32, CaseIterable {
        case write = 1
        case sync = 2
        case open = 4
        case rename = 8
        case unlink = 16
        case read = 32
        case mkdir = 64
        case resize = 128
    }

    let path: String
    private let words: UnsafeMutablePointer<Int32>
    private static let byteCount = 32

    init(in directory: TemporaryDirectory) throws {
        path = try directory.write([UInt8](repeating: 0, count: Self.byteCount), to: "control")
        let number = open(path, O_RDWR | O_CLOEXEC)
        let place = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0)
        close(number)
        guard let place, place != MAP_FAILED else { throw Fault("can't map '\(path)'") }
        words = place.bindMemory(to: Int32.self, capacity: Self.byteCount / 4)
    }

    deinit { munmap(words, Self.byteCount) }

    /// Makes a call fail.
    ///
    /// - Parameter number: The index of the call among those of its kind from now, from 1.
    func fail(_ kind: Kind, _ number: Int, with code: Int32, isLasting: Bool) {
        words[1] = 0
        (words[0], words[2], words[3]) = (kind.rawValue, code, isLasting ? 1 : 0)
        (words[4], words[5]) = (0, 0)
        words[1] = Int32(number)
    }

    /// Stops the failures.
    func endFailing() { words[1] = 0 }

    /// The number of failed calls.
    var failedCount: Int { Int(words[5]) }

    /// The size of the recording in bytes.
    var position: Int64 {
        UnsafeRawPointer(words).load(fromByteOffset: 24, as: Int64.self)
    }
}
