internal import ArgumentParser
internal import CofferCore
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Umount: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "umount",
        abstract: "End a mount of the vault.",
        discussion: "If programs have files open there, it says which, and fails. It prints nothing."
    )

    @Argument(help: "The directory.", completion: .directory)
    var directory: String

    func run() throws {
        guard let mounted = MountTable.mount(at: directory) else {
            throw CofferError(.itemNotFound, "no vault is mounted at \(quotedForDisplay(directory))")
        }
        if geteuid() == 0 {
            if unsafe umount2(mounted, 0) == 0 { return }
            if errno == EBUSY { throw busy(mounted) }
            throw SystemError("umount").cofferError("can't unmount \(quotedForDisplay(directory))")
        }
        let outcome = try unmount(mounted)
        if outcome.isSuccess { return }
        // It says so in English in every locale.
        if outcome.lastWords.contains("busy") { throw busy(mounted) }
        throw CofferError(.io, "can't unmount \(quotedForDisplay(directory)): \(outcome.lastWords)")
    }

    private func unmount(_ path: String) throws(CofferError) -> Tool.Outcome {
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
