internal import CofferClient
internal import CofferMemory
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// Where an import reads from.
enum ImportSource {
    /// The bytes of a file, or of standard input for `-`, in memory that is wiped.
    ///
    /// - Throws: `dataTooLarge` before memory is allocated for more than an import takes.
    static func content(ofFile path: String) throws(CofferError) -> Secret {
        let file = try SecretInput.open(path == "-" ? nil : path)
        return try content(of: file.number, path == "-" ? "standard input" : quotedForDisplay(path))
    }

    /// Reads a descriptor to its end.
    static func content(of number: Int32, _ subject: String) throws(CofferError) -> Secret {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else {
            throw SystemError("fstat").cofferError("can't read \(subject)")
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw CofferError(.param, "\(subject) is a directory, and the format is that of a file")
        }
        guard Int(status.st_size) <= Limits.importFileBytes else { throw .importTooLarge(subject) }
        var bytes = try memory(max(Int(status.st_size) + 1, 4096))
        var done = 0
        while true {
            if done == bytes.count {
                guard done <= Limits.importFileBytes else { throw .importTooLarge(subject) }
                var larger = try memory(2 * done)
                bytes.withBytes { larger.copy($0, to: 0) }
                bytes = larger
            }
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(number, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done)
            }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw SystemError("read").cofferError("can't read \(subject)") }
            if count == 0 { break }
            done += count
        }
        guard done <= Limits.importFileBytes else { throw .importTooLarge(subject) }
        bytes.truncate(to: done)
        return Secret(bytes)
    }

    static func memory(_ count: Int) throws(CofferError) -> SecretBytes {
        do { return try SecretBytes(zeros: count, in: .bulk) } catch { throw .noSecretMemory }
    }

    // MARK: Programs

    /// The output of a program, in memory that is wiped.
    ///
    /// - Parameters:
    ///   - program: The name, and the package of Debian that has it.
    ///   - limit: The bytes that are accepted.
    static func output(
        of program: (name: String, package: String),
        _ arguments: [String],
        input: Secret = Secret(nil),
        limit: Int,
        to action: String = "read",
        _ subject: String
    ) throws(CofferError) -> Secret {
        guard let path = Program.path(program.name) else {
            throw CofferError(
                .notAvailable,
                "can't \(action) \(subject): \(program.name) is not installed",
                hint: "install the package \(program.package)"
            )
        }
        var bytes = try memory(limit + 1)
        let outcome: Tool.Outcome
        do {
            outcome = try unsafe bytes.withUnsafeMutableBytes { (buffer) throws(SystemError) in
                try input.withBytes { (input) throws(SystemError) in
                    unsafe try Tool.run(path, arguments, input: input, into: buffer)
                }
            }
        } catch {
            if error.code == EFBIG {
                throw CofferError(.dataTooLarge, "\(subject) has more than \(limit) bytes once it is unpacked")
            }
            throw error.cofferError("can't \(action) \(subject)")
        }
        guard outcome.isSuccess else {
            let words = outcome.lastWords.isEmpty ? "has failed" : "says: \(outcome.lastWords)"
            throw CofferError(.io, "can't \(action) \(subject): \(program.name) \(words)")
        }
        bytes.truncate(to: outcome.count)
        return try bytes.withBytes { (span) throws(CofferError) in try Secret(bulk: span) }
    }

    /// The entries of a tree of pass, each decrypted by the user's own gpg.
    static func passTree(_ path: String) throws(CofferError) -> ExchangeList {
        var list = ExchangeList()
        guard DirectoryWalk.isDirectory(path) else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(path)) is no directory",
                hint: "it is usually ~/.password-store"
            )
        }
        let files = try DirectoryWalk.entries(below: path).filter { entry in
            !entry.relativePath.split(separator: "/").contains { $0.hasPrefix(".") }
        }
        let encrypted = files.filter { $0.relativePath.hasSuffix(".gpg") }
        guard !encrypted.isEmpty else {
            throw CofferError(
                .param,
                "there is no file of gpg below \(quotedForDisplay(path))",
                hint: "a tree of pass has files NAME.gpg, and is usually ~/.password-store"
            )
        }
        // The agent asks for a passphrase on the terminal that this names.
        if let terminal = unsafe ttyname(STDERR_FILENO) { unsafe setenv("GPG_TTY", terminal, 0) }
        for file in encrypted {
            let subject = quotedForDisplay(file.path)
            let path = String(file.relativePath.dropLast(4))
            do throws(CofferError) {
                if let fault = file.fault { throw CofferError(.param, "\(subject): \(fault)") }
                let arguments = ["--quiet", "--no-verbose", "--decrypt", "--", file.path]
                let content = try output(of: ("gpg", "gpg"), arguments, limit: Limits.importFieldBytes, subject)
                try list.append(try PassReader.entry(path: path, content))
            } catch {
                guard [.param, .dataTooLarge, .io].contains(error.code) else { throw error }
                try list.leaveOut(quotedForDisplay(path), "", error)
                // Without the key none of them opens, and each would ask for its passphrase again.
                if list.entries.isEmpty && list.omissions.count > 2 { return try list.checked() }
            }
        }
        for file in files where !file.relativePath.hasSuffix(".gpg") {
            try list.leaveOut(ExchangeEntry(place: quotedForDisplay(file.relativePath)), because: "it is not of gpg")
        }
        return try list.checked()
    }
}

extension CofferError {
    static func importTooLarge(_ subject: String) -> CofferError {
        CofferError(
            .dataTooLarge,
            "\(subject) has more than \(Limits.importFileBytes) bytes",
            hint: "divide the file, or export fewer entries at a time"
        )
    }
}
