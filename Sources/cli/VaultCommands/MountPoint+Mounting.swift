internal import CofferCore
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

// The system's part of a mount. An ordinary user may not mount: fusermount3 may, and checks that the directory is the user's.
extension MountPoint {
    /// What a mount permits.
    struct Permissions {
        let isReadOnly: Bool
        /// Whether users other than the one that mounts may use it.
        let allowsOthers: Bool

        /// The options that have the kernel check them.
        fileprivate var options: [String] { ["default_permissions"] + (allowsOthers ? ["allow_other"] : []) }
    }

    /// Mounts a file system that waits for its daemon.
    ///
    /// - Parameter permissions: What it permits.
    /// - Returns: The kernel's end: an open `/dev/fuse`.
    borrowing func mount(_ permissions: Permissions) throws(CofferError) -> OwnedDescriptor {
        let helper: ProgramFile
        do throws(SystemError) { helper = try ProgramFile("fusermount3", in: environment("PATH")) } catch {
            if geteuid() == 0 { return try mountAsRoot(permissions) }
            throw CofferError(.io, "can't start fusermount3: \(error.reason)", hint: "install the package fuse3")
        }
        return try mount(by: helper, permissions)
    }

    private borrowing func mount(
        by helper: ProgramFile,
        _ permissions: Permissions
    ) throws(CofferError) -> OwnedDescriptor {
        let options =
            ["fsname=coffer", "subtype=coffer", "nosuid", "nodev"] + permissions.options
            + (permissions.isReadOnly ? ["ro"] : [])
        // It sends the descriptor over the one that this variable numbers.
        let words = ["_FUSE_COMMFD=3", helper.path, "-o", options.joined(separator: ","), "--", path]
        var output: [UInt8] = []
        let ended: Tool.Outcome
        do throws(SystemError) {
            let receiver = try DescriptorReceiver.make()
            let outcome = unsafe output.withUnsafeMutableBytes { buffer in
                Result { () throws(SystemError) in
                    try unsafe Tool.run("env", words, into: buffer, passing: receiver.sender.number)
                }
            }
            ended = try outcome.get()
            if ended.isSuccess, let device = try receiver.receive() { return device }
        } catch {
            throw error.cofferError("can't mount at \(quotedForDisplay(path))")
        }
        if ended.isSuccess { Self.unmount(path) }
        throw failure(ended.isSuccess ? "fusermount3 has passed no descriptor" : ended.lastWords, of: helper)
    }

    private borrowing func failure(_ words: String, of helper: ProgramFile) -> CofferError {
        let prefix = "\(helper.path): "
        let reason = words.hasPrefix(prefix) ? String(words.dropFirst(prefix.count)) : words
        let hint =
            reason.contains("user_allow_other")
            ? "only root can permit '--allow-other', by a line 'user_allow_other' in /etc/fuse.conf" : nil
        return CofferError(.io, "can't mount at \(quotedForDisplay(path)): \(reason)", hint: hint)
    }

    private borrowing func mountAsRoot(_ permissions: Permissions) throws(CofferError) -> OwnedDescriptor {
        do throws(SystemError) {
            let device = try OwnedDescriptor.open("/dev/fuse", O_RDWR)
            let owner = ["fd=\(device.number)", "rootmode=40000", "user_id=0", "group_id=0"]
            let options = (owner + permissions.options).joined(separator: ",")
            let flags = MS_NOSUID | MS_NODEV | (permissions.isReadOnly ? MS_RDONLY : 0)
            _ = try retrying("mount") {
                unsafe Glibc.mount("coffer", path, "fuse.coffer", UInt(flags), options)
            }
            return device
        } catch {
            throw error.cofferError("can't mount at \(quotedForDisplay(path))")
        }
    }
}
