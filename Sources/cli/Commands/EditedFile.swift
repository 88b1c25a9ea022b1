internal import CofferClient
internal import CofferSecretFormats
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// A file in memory with a secret for an editor.
struct EditedFile {
    private let former: Secret
    private let directory: MemoryDirectory
    private let path: String
    private let held: Hold

    /// The signals that are held until the file is wiped.
    private final class Hold {
        let signals: HeldSignals
        init() throws(SystemError) { signals = try HeldSignals([SIGINT, SIGQUIT, SIGTERM, SIGHUP]) }
    }

    /// Writes the file.
    ///
    /// - Parameters:
    ///   - content: Its content.
    ///   - nameEnd: What its name ends with.
    init(_ content: Secret, nameEnd: String) throws(CofferError) {
        former = content
        do throws(SystemError) {
            held = try Hold()
            directory = try MemoryDirectory(in: [environment("XDG_RUNTIME_DIR"), "/dev/shm"].compactMap(\.self))
            path = "\(directory.path)/secret\(nameEnd)"
            let file = try OwnedDescriptor("open") { [path] in
                unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            }
            try content.withBytes { (bytes) throws(SystemError) in try file.write(all: bytes) }
        } catch {
            guard error.code == ENOTSUP else { throw error.cofferError("can't make a file for the editor") }
            throw CofferError(
                .io,
                "can't make a file for the editor: neither $XDG_RUNTIME_DIR nor /dev/shm is in memory",
                hint: "a secret is not written to a disk: mount a tmpfs there"
            )
        }
    }

    /// Runs the editor, reads what it has saved, and wipes the file.
    ///
    /// A line end that the editor has added to the last line is left out, if the text had none.
    ///
    /// - Throws: `io` if the editor failed.
    func edit() throws(CofferError) -> Secret {
        defer { directory.wipe() }
        let editor = environment("VISUAL") ?? environment("EDITOR") ?? "editor"
        let outcome: (isSuccess: Bool?, signal: Int32)
        do throws(SystemError) {
            // By a shell, as it may have options, for which it is split as a shell does.
            let child = try ChildProcess(
                "/bin/sh",
                ["-c", "\(editor) \(Self.options(of: editor)) \"$@\"", editor, path]
            )
            outcome = try child.wait(holding: held.signals)
        } catch {
            throw error.cofferError("can't run the editor")
        }
        guard let isSuccess = outcome.isSuccess else {
            directory.wipe()
            // It takes effect when the signals are held no more, which is when this value ends.
            raise(outcome.signal)
            throw CofferError(.userCanceled, "a signal has ended the editor, and nothing was stored")
        }
        guard isSuccess else {
            throw CofferError(
                .io,
                "the editor \(quotedForDisplay(editor)) failed, and nothing was stored",
                hint: "set VISUAL or EDITOR to another one if it can't be run"
            )
        }
        let file = try SecretInput.open(path)
        let limit = Limits.secretBytes
        let text = Secret(try SecretInput.readAll(from: file.number, limit: limit + 1, "what the editor has saved"))
        guard text.count <= limit else {
            throw CofferError(.dataTooLarge, "nothing was stored: the text has more than \(limit) bytes")
        }
        let hadLineEnd = former.withBytes { $0.byteCount > 0 && $0.byte(at: $0.byteCount - 1) == 10 }
        return hadLineEnd ? text : try text.withoutLineEnd()
    }

    /// What keeps an editor of the vi family from copies in other places.
    private static func options(of editor: String) -> String {
        let program = editor.split(separator: " ").first.map(String.init) ?? editor
        guard let path = Program.path(program), let real = unsafe realpath(path, nil) else { return "" }
        defer { unsafe free(real) }
        let name = unsafe String(cString: real).split(separator: "/").last ?? ""
        guard name.hasPrefix("vim") || name.hasPrefix("nvim") else { return "" }
        return "-n -i NONE -c 'set nobackup nowritebackup noundofile'"
    }
}
