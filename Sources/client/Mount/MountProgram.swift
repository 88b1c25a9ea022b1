internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// The program `coffer-mount`.
package enum MountProgram {

    /// Mounts, and serves until it is unmounted, or until a signal ends it.
    package static func main() {
        do {
            try ProcessHardening.openStandardStreams()
            try ProcessHardening.applyKeepingPrivilegedPrograms()
            Sodium.prepare()
            try run(try MountOptions(CommandLine.arguments))
        } catch let error as CofferError {
            fail(error)
        } catch let error as SystemError {
            fail(error.cofferError("can't mount"))
        } catch {
            fail(CofferError(.internal, "can't mount: \(error)"))
        }
    }

    private static func run(_ options: MountOptions) throws {
        // A dead mount is of no use, even if nothing can be mounted in its place.
        MountPoint.removeDead(options.mountPoint)
        let filesystem = Filesystem(options.subject, connectionCount: Limits.mountThreads)
        try filesystem.check()
        let (session, place) = try mount(filesystem, options)
        let signals = try HeldSignals([SIGTERM, SIGINT, SIGHUP])
        let ended = Ended(try WakeSignal())
        try NativeThread.startDetached { Watcher(filesystem, session, at: place).run() }
        try NativeThread.startDetached { filesystem.settleLater() }
        try NativeThread.startDetached {
            session.run(threadCount: Limits.mountThreads)
            ended.signal.send()
        }
        if !options.isForeground { leaveTerminal() }
        if try signals.wait(for: ended.signal.descriptor.number) != nil {
            let failures = filesystem.syncAll()
            if failures > 0 { write("error: \(failures) files could not be synced\n") }
            MountPoint.unmount(place)
        }
        // Until here, another signal would end this process before it has unmounted.
        withExtendedLifetime(signals) {}
        exit(EXIT_SUCCESS)
    }

    /// Mounts; the directory is locked meanwhile, and not longer.
    ///
    /// - Returns: The session, and the absolute path of the directory.
    private static func mount(_ filesystem: Filesystem, _ options: MountOptions) throws -> (Session, String) {
        let mountPoint = try MountPoint(options.mountPoint)
        let session = try Session(filesystem, at: mountPoint.path, isReadOnly: options.isReadOnly)
        try session.mount()
        return (session, mountPoint.path)
    }

    /// Signals that the file system was unmounted.
    private final class Ended: Sendable {
        let signal: WakeSignal
        init(_ signal: consuming WakeSignal) { self.signal = signal }
    }

    /// Shows the program that has started this one that the mount is there: standard error ends.
    private static func leaveTerminal() {
        setsid()
        let null = unsafe open("/dev/null", O_RDWR)
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { dup2(null, stream) }
        if null > STDERR_FILENO { close(null) }
        _ = unsafe chdir("/")
    }

    private static func fail(_ error: CofferError) -> Never {
        let hint: Line = if let hint = error.hint { "hint: \(hint)\n" } else { "" }
        write("error: \(error.message)\n\(hint)")
        exit(exitCode(of: error))
    }

    /// As `coffer` exits.
    private static func exitCode(of error: CofferError) -> Int32 {
        switch error.code {
        case .param: EX_USAGE
        case .itemNotFound: EX_NOINPUT
        case .notAvailable: EX_UNAVAILABLE
        case .interactionNotAllowed: EX_TEMPFAIL
        case .missingEntitlement: EX_NOPERM
        case .internal: EX_SOFTWARE
        default: EX_IOERR
        }
    }

    private static func write(_ line: Line) {
        var text = line.forTerminal
        _ = text.withUTF8 { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
