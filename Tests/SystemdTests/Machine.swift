import CofferTestSupport
import Foundation
import Testing

/// A machine with a real systemd: a container of `packaging/tools/systemd-testbed` that has the programs under test in
/// ``programs``.
final class Machine: Sendable {
    /// The machine of the suite that runs.
    @TaskLocal static var shared: Machine?

    /// Where the programs under test are inside.
    static let programs = "/opt/coffer"
    /// Whom system services run as, and who may use their vaults.
    static let serviceUser = "coffer"
    /// An ordinary user with a service manager of his own.
    static let person = "tester"

    /// Why there can't be a machine here; `nil` where there can.
    ///
    /// What else goes wrong is no reason to skip anything: the suite then fails, and says it.
    static let obstacle: String? = {
        do {
            let answer = try runCommand(tool, ["check"])
            return answer.status == 77 ? answer.errors.trimmingCharacters(in: .whitespacesAndNewlines) : nil
        } catch {
            return nil
        }
    }()

    /// Whether there is a `/dev/fuse` here, which the machine is given.
    static let hasFUSE = MountedVault.isPossible

    private static let tool = "\(Project.root)/packaging/tools/systemd-testbed"
    private let root: String
    private let keeper: Process
    private let lease: Pipe
    private let answers = Pipe()
    private let scratch: TemporaryDirectory

    /// Makes a machine and boots it.
    ///
    /// A process of its own makes it, and destroys it when its standard input says so or ends: so the machine is gone as well
    /// when the tests are killed.
    ///
    /// - Parameter firmware: Gives it a chip (a TPM), to which the firmware says that it is this.
    init(firmware: String? = nil) throws {
        // Not in /tmp, which is in memory on many machines.
        root = "/var/tmp/coffer-machine-\(UUID().uuidString.prefix(8))"
        lease = Pipe()
        for end in [lease.fileHandleForReading, lease.fileHandleForWriting] {
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        scratch = try TemporaryDirectory()
        keeper = Process()
        keeper.executableURL = URL(filePath: "/bin/bash")
        keeper.arguments = ["-c", Self.keeping, Self.tool, root, Project.builtWithTests, Self.programs]
        keeper.environment = ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
        keeper.standardInput = lease
        keeper.standardOutput = answers
        keeper.standardError = FileHandle(forWritingAtPath: try scratch.write([], to: "errors"))
        try Self.withoutBlockedSignals { try keeper.run() }
        try boot(firmware)
        try write("u \(Self.serviceUser) - - /var/lib/coffer\n", to: "/etc/sysusers.d/coffer-test.conf")
        try succeed(["systemd-sysusers"])
    }

    /// Starts a program that can be ended: the threads of tests block signals, and so would all that it starts.
    private static func withoutBlockedSignals(_ start: () throws -> Void) rethrows {
        var (none, former) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        try start()
    }

    private func boot(_ firmware: String?) throws {
        let order = "boot \(firmware.map { "--tpm=\($0)" } ?? "")\n"
        try lease.fileHandleForWriting.write(contentsOf: Data(order.utf8))
        guard answers.fileHandleForReading.availableData == Data("up\n".utf8) else {
            keeper.waitUntilExit()
            throw MachineError(String(decoding: scratch.contents("errors") ?? [], as: UTF8.self))
        }
    }

    /// Switches the machine off, and on again.
    ///
    /// - Parameters:
    ///   - firmware: What the firmware says to the chip that it is.
    ///   - hasNewChip: Whether it gets another chip meanwhile.
    func restart(firmware: String, hasNewChip: Bool = false) throws {
        let stopped = try call(["stop", root])
        guard stopped.status == 0 else { throw MachineError("not off after a minute: \(stopped.errors)") }
        if hasNewChip { try FileManager.default.removeItem(atPath: root + "/tpm") }
        try boot(firmware)
    }

    /// Destroys the machine.
    func destroy() {
        try? lease.fileHandleForWriting.write(contentsOf: Data("end\n".utf8))
        keeper.waitUntilExit()
    }

    /// Creates the machine, boots it on request, destroys it.
    ///
    /// The programs' libraries that the machine does not have itself are lent to it, such as those of Swift.
    private static let keeping = """
        # What is ignored, and not caught, all that is started here would ignore as well: the chip could not be ended.
        trap : INT TERM HUP
        tool=$0 root=$1 binaries=$2 programs=$3
        finish() { "$tool" destroy "$root" 2>/dev/null; rm -rf "$root"; exit 1; }
        # Tests that run inside play at a terminal with Python.
        "$tool" create "$root" --include python3,fuse3 || finish
        binds=("--bind-ro=$binaries:$programs")
        if [[ -c /dev/fuse ]]; then binds+=("--bind=/dev/fuse"); fi
        for library in $(ldd "$binaries"/{cofferd,coffer,cofferPackageTests.xctest} | awk '$2 == "=>" { print $3 }' | sort -u); do
            [[ -e $root/rootfs$library ]] || binds+=("--bind-ro=$library")
        done
        while read -r order options; do
            [[ $order == boot ]] || finish
            "$tool" boot "$root" $options -- "${binds[@]}" || finish
            echo up
        done
        finish
        """

    // MARK: Running things in it

    /// Runs a command as root, or as a person in the person's own service manager.
    func run(
        _ command: [String],
        as person: String? = nil,
        environment: [String: String] = [:],
        input: [UInt8] = [],
        seconds: Int = 60
    ) throws -> CommandResult {
        let variables = environment.flatMap { ["-E", "\($0.key)=\($0.value)"] }
        let verb = person.map { ["exec-user", root, $0] } ?? ["exec", root]
        return try call(verb + variables + ["--"] + command, input: input, seconds: seconds)
    }

    /// Runs a command that has to succeed, and returns what it prints.
    @discardableResult func succeed(_ command: [String], as person: String? = nil) throws -> String {
        let result = try run(command, as: person)
        guard result.status == 0 else {
            throw MachineError("\(command.joined(separator: " ")): exit \(result.status): \(result.errors)")
        }
        return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// What the journal has, one text a line, as soon as it is as wanted, or after a minute.
    ///
    /// A program may be done with its work before it writes of it, and journald may read that later still.
    ///
    /// - Parameters:
    ///   - fields: Options and matches of `journalctl`.
    ///   - isWanted: Whether it is what a test expects; by default it is read once.
    func journal(_ fields: [String], until isWanted: (String) -> Bool = { _ in true }) throws -> String {
        var text = ""
        for _ in 0..<300 {
            try succeed(["journalctl", "--sync"])
            // Its status is 1 where nothing matches.
            text = try run(["journalctl", "--quiet", "--output=cat"] + fields).text
            if isWanted(text) { break }
            usleep(200_000)
        }
        return text
    }

    /// Copies a file to a path in the machine.
    func copy(_ file: String, to path: String) throws {
        let result = try call(["copy", root, file, path])
        guard result.status == 0 else { throw MachineError(result.errors) }
    }

    /// Writes a file that anyone may read.
    func write(_ text: String, to path: String) throws {
        let url = URL(filePath: root + "/rootfs" + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Boots again, in good order.
    func reboot() throws {
        let result = try call(["reboot", root])
        guard result.status == 0 else { throw MachineError(result.errors) }
    }

    private func call(_ arguments: [String], input: [UInt8] = [], seconds: Int = 60) throws -> CommandResult {
        try runCommand("/usr/bin/timeout", ["\(seconds)", Self.tool] + arguments, input: input)
    }
}

/// What went wrong with a machine, in the words of the tool.
struct MachineError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Gives a suite one machine for all of its tests.
struct MachineTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let machine = try Machine()
        defer { machine.destroy() }
        try await Machine.$shared.withValue(machine) { try await body() }
    }
}

extension Trait where Self == MachineTrait {
    /// One machine for all tests of the suite.
    static var machine: Self { MachineTrait() }
}
