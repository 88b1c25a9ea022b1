internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Umount: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "umount",
        abstract: "End a mount of the vault.",
        discussion: """
            When it returns, what was written is on the disk. If programs have files open there, it says which, and fails. \
            It prints nothing.
            """
    )

    @Argument(help: "The directory.", completion: .directory)
    var directory: String

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        guard let mounted = MountTable.mount(at: directory) else {
            throw CofferError(.itemNotFound, "no vault is mounted at \(quotedForDisplay(directory))")
        }
        let client = daemon
        try sync(client)
        try unmount(mounted)
        // The kernel has written last what programs had changed in mapped memory.
        try sync(client)
    }

    /// A connection to the daemon; `nil` if none runs, or if it has no vault that could be synced.
    private var daemon: BlockingClient? {
        guard let client = try? connection.connectToRunning(), let state = try? client.status().state,
            ![.noVault, .deviceKeyMissing].contains(state)
        else { return nil }
        return client
    }

    /// Syncs the vault, with the files that programs have closed.
    private func sync(_ client: BlockingClient?) throws(CofferError) {
        do throws(CofferError) {
            try client?.call(FileSyncTreeParameters(includesClosedFiles: true))
        } catch {
            // A client that may not write has written nothing.
            if error.code == .missingEntitlement { return }
            throw CofferError(
                error.code,
                "can't sync what was written at \(quotedForDisplay(directory)): \(error.message)",
                hint: error.hint
            )
        }
    }

    private func unmount(_ mounted: String) throws(CofferError) {
        if geteuid() == 0 {
            if unsafe umount2(mounted, 0) == 0 { return }
            if errno == EBUSY { throw busy(mounted) }
            throw SystemError("umount").cofferError("can't unmount \(quotedForDisplay(directory))")
        }
        let outcome = try runHelper(mounted)
        if outcome.isSuccess { return }
        // It says so in English in every locale.
        if outcome.lastWords.contains("busy") { throw busy(mounted) }
        throw CofferError(.io, "can't unmount \(quotedForDisplay(directory)): \(outcome.lastWords)")
    }

    private func runHelper(_ path: String) throws(CofferError) -> Tool.Outcome {
        var output: [UInt8] = []
        let outcome = unsafe output.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in try unsafe Tool.run("fusermount3", ["-u", "--", path], into: buffer) }
        }
        do {
            return try outcome.get()
        } catch {
            throw CofferError(.io, "can't start fusermount3: \(error.reason)", hint: "install the package fuse3")
        }
    }

    private func busy(_ path: String) -> CofferError {
        let holders = MountTable.holders(of: path).map { "\($0.name) (process \($0.number))" }
        let names = holders.isEmpty ? "another process" : holders.joined(separator: ", ")
        return CofferError(
            .io,
            "can't unmount \(quotedForDisplay(directory)): it is in use by \(names)",
            hint: "end these programs, or have them leave the directory, and repeat the command"
        )
    }
}
