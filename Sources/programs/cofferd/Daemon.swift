import CofferLogind
import CofferCore
import CofferMemory
import CofferService
import CofferSystem
import Glibc

/// The start of the daemon, in order: harden, read the options, take the passed descriptors, open the vault, serve.
enum Daemon {
    static func main() {
        do {
            try ProcessHardening.openStandardStreams()
            try ProcessHardening.apply()
            Sodium.prepare()
            let options = try Options(CommandLine.arguments)
            if options.isCheck { return try check(options) }
            let passed = try PassedDescriptors.take()
            HeldConnections.refuse(passed)
            var configuration = try options.configuration()
            configuration.credentials.hold = HeldConnections.hold
            // Where the unit has no store, the service manager drops what it gets.
            if options.carriesOver ?? !passed.sockets.isEmpty {
                configuration.carryOver = DescriptorStore.carryOver(passed)
            } else {
                DescriptorStore.clear(passed)
            }
            configuration.mounting.store = DescriptorStore.mounts(passed)
            configuration.mounting.report = { line in write("warning: \(line)\n", to: STDERR_FILENO) }
            configuration.reportState = ServiceManager.reportState
            configuration.reportFault = { fault in
                write("warning: \(fault.what)\nhint: \(fault.hint)\n", to: STDERR_FILENO)
            }
            // Only a socket that outlives the daemon can start it again.
            if !passed.sockets.isEmpty { configuration.idleExitSeconds = options.idleExitSeconds }
            let scratch = try options.place.takeScratch()
            let isOfCopy = scratch != nil
            if isOfCopy { configuration.idleExitSeconds = Limits.scratchSeconds }
            let loop = try EventLoop()
            let watchdog = try Watchdog(on: loop)
            let logind = try Logind(on: loop, delaysSleep: configuration.locking.presence.locksOnSleep) { trouble in
                // The user of a copy waits for a command, and asks nothing about this machine.
                if !isOfCopy { write("warning: \(trouble)\n", to: STDERR_FILENO) }
            }
            let surroundings = Surroundings(
                isLoggedIn: LoginMonitor.isLoggedIn,
                hasSeat: { LoginMonitor.hasSeat },
                unlockedDidChange: { [unowned logind] in logind.unlockedDidChange($0) }
            )
            let server = try Server(loop: loop, configuration: configuration, surroundings: surroundings)
            logind.start { [unowned server] event in server.take(Occurrence(event)) }
            let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) { signal in
                if signal == SIGHUP { return reload(options, server) }
                ServiceManager.notifyStopping()
                server.shutDownSoon()
            }
            server.start()
            if !isOfCopy { report(server.idleLock) }
            try ListeningSockets.takeAll(passed, options.sockets) { try server.serve($0, for: $1) }
            ServiceManager.notifyReady()
            server.run()
            withExtendedLifetime((signals, watchdog, logind)) {}
            scratch?.remove()
        } catch let error as CofferError {
            fail(error)
        } catch let error as SystemError {
            fail(error.cofferError("can't start"))
        } catch {
            fail(CofferError(.internal, "can't start: \(error)"))
        }
    }

    private static func check(_ options: Options) throws {
        let count = try options.configuration().entitlements.count
        let path = options.files.configuration.map { quotedForDisplay($0.path) + " is right" }
        write("\(path ?? "there is no configuration file")\n", to: STDOUT_FILENO)
        if count > 0 { write("the entitlements are right: \(count)\n", to: STDOUT_FILENO) }
    }

    private static func report(_ idleLock: IdleLock) {
        guard idleLock.isDefault, let seconds = idleLock.seconds else { return }
        write(
            """
            this machine has no seat with a screen: a vault with a passcode is locked after \
            \(durationForDisplay(seconds: seconds)) without use; LockAfter= or --lock-after sets another time

            """,
            to: STDERR_FILENO
        )
    }

    private static func reload(_ options: Options, _ server: Server) {
        ServiceManager.notifyReloading()
        let troubles = [
            server.reload(options.rereadConfiguration), server.reloadEntitlements(options.files.readEntitlements),
        ]
        for case let trouble? in troubles { report(trouble, ", and what was set before stays") }
        ServiceManager.notifyReady()
    }

    private static func report(_ error: CofferError, _ addition: String = "") {
        let hint: Line = if let hint = error.hint { "hint: \(hint)\n" } else { "" }
        write("error: \(error.message)\(addition)\n\(hint)", to: STDERR_FILENO)
    }

    private static func fail(_ error: CofferError) -> Never {
        report(error)
        exit(error.code == .param ? EX_USAGE : EX_OSERR)
    }

    /// Writes a line directly, not through the C library's streams, which another thread may have locked.
    static func write(_ line: Line, to descriptor: Int32) {
        var text = line.forTerminal
        _ = text.withUTF8 { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}

extension Occurrence {
    fileprivate init(_ event: Logind.Event) {
        switch event {
        case .sleep: self = .sleep
        case .sessionLock(let userID): self = .sessionLock(userID: userID)
        case .logins: self = .logins
        }
    }
}
