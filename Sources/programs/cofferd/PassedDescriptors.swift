import CSystemd
import CofferCore
import CofferService
import CofferSystem
import Glibc

/// The descriptors that the service manager passed: sockets, and its descriptor store.
struct PassedDescriptors {
    /// Stored keys, whose name is ``DescriptorStore/name``.
    private(set) var carried: [Int32] = []
    /// Connections of service managers that an earlier daemon has not fully answered.
    private(set) var credentials: [Int32] = []
    /// The kernel's ends of mounts, and what is kept beside them, by their names.
    private(set) var mounts: [String: [Int32]] = [:]
    /// All others, which must be sockets, with their names.
    private(set) var sockets: [(number: Int32, name: String)] = []

    private static let first: Int32 = 3

    /// Takes the passed descriptors; must be called once only.
    static func take() throws(SystemError) -> PassedDescriptors {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count >= 0 else { throw SystemError("sd_listen_fds", code: -count) }
        defer { unsafe free(names) }
        var passed = PassedDescriptors()
        for index in 0..<count {
            let name = unsafe names?[Int(index)].map { name in
                defer { unsafe free(name) }
                return unsafe String(cString: name)
            }
            switch name {
            case DescriptorStore.name: passed.carried.append(first + index)
            case HeldConnections.name: passed.credentials.append(first + index)
            case let name? where name.hasPrefix(MountStore.namePrefix):
                passed.mounts[name, default: []].append(first + index)
            default: passed.sockets.append((first + index, name ?? ""))
            }
        }
        return passed
    }
}

/// The service manager's descriptor store, which keeps descriptors for the next daemon.
enum DescriptorStore {
    /// The name of the stored keys.
    static let name = "coffer-class-c"

    /// The store as a storage for keys.
    static func carryOver(_ passed: PassedDescriptors) -> CarryOver {
        if unsafe getenv("NOTIFY_SOCKET") == nil {
            report("--carry-over has no effect: cofferd was not started by a service manager that it can notify")
        }
        return CarryOver(found: found(passed.carried), keep: keep, remove: remove, report: report)
    }

    /// Empties the store, if no keys are to be carried over.
    static func clear(_ passed: PassedDescriptors) {
        guard !passed.carried.isEmpty else { return }
        for number in passed.carried { close(number) }
        do throws(SystemError) {
            try remove()
        } catch {
            report("can't remove keys from the service manager: \(error.reason)")
        }
    }

    /// The store as a storage for mounts.
    static func mounts(_ passed: PassedDescriptors) -> MountStore? {
        if unsafe getenv("NOTIFY_SOCKET") == nil { return nil }
        var found: [MountStore.Found] = []
        for (name, numbers) in passed.mounts.sorted(by: { $0.key < $1.key }) {
            let devices = numbers.filter(isKernelFiles)
            let memories = numbers.filter { !isKernelFiles($0) }
            if let device = devices.first, let memory = memories.first, numbers.count == 2 {
                found.append(MountStore.Found(name, device: device, memory: memory))
            } else {
                // The service manager has removed the end of a mount that has ended.
                for number in numbers { close(number) }
                try? remove(named: name)
            }
        }
        return MountStore(found: found, keep: keep, remove: remove(named:))
    }

    private static func isKernelFiles(_ number: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
    }

    @Sendable private static func keep(
        _ name: String,
        _ descriptor: borrowing OwnedDescriptor
    ) throws(SystemError) {
        var number = descriptor.number
        let code = unsafe sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)", &number, 1)
        if code < 0 { throw SystemError("sd_notify", code: -code) }
    }

    @Sendable private static func remove(named name: String) throws(SystemError) {
        let code = unsafe sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
        if code < 0 { throw SystemError("sd_notify", code: -code) }
    }

    private static func found(_ numbers: [Int32]) -> CarryOver.Found {
        let memories = numbers.count
        for number in numbers.dropFirst() { close(number) }
        guard let number = numbers.first else { return .nothing }
        let memory = OwnedDescriptor(owning: number)
        guard memories == 1 else { return .unusable("there are \(memories) of them") }
        do throws(SystemError) {
            let bytes = try SealedMemory.contents(of: memory, byteCount: CarryOver.byteCount)
            return bytes.map { .bytes($0) } ?? .unusable("it is no sealed memory of \(CarryOver.byteCount) bytes")
        } catch {
            return .unusable("it can't be read: \(error.reason)")
        }
    }

    @Sendable private static func keep(_ memory: borrowing OwnedDescriptor) throws(SystemError) {
        var number = memory.number
        let code = unsafe sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)", &number, 1)
        if code < 0 { throw SystemError("sd_notify", code: -code) }
    }

    @Sendable private static func remove() throws(SystemError) {
        let code = unsafe sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)")
        if code < 0 { throw SystemError("sd_notify", code: -code) }
    }

    @Sendable private static func report(_ line: String) { Daemon.write("warning: \(line)\n", to: STDERR_FILENO) }
}
