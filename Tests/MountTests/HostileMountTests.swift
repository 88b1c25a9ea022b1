import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Clients that pass the kernel's end of a mount and mean harm by it.
@Suite(.enabled(if: MountedVault.isPossible && geteuid() == 0, "only root makes a mount without fusermount3"))
struct HostileMountTests {
    /// A mount whose client keeps the kernel's end as well.
    private final class HeldMount {
        let path: String
        let device: OpenDescriptor

        init(at path: String, of client: BlockingClient) throws {
            self.path = path
            device = try OpenDescriptor("/dev/fuse", O_RDWR)
            let options = "fd=\(device.number),rootmode=40000,user_id=0,group_id=0,default_permissions"
            let flags = UInt(MS_NOSUID | MS_NODEV)
            guard Glibc.mount("coffer", path, "fuse.coffer", flags, options) == 0 else {
                throw MountError("errno \(errno)")
            }
            try client.call(MountServeParameters(place: path), passing: device.number)
        }

        /// Takes a request to read a file away from the daemon.
        func stealRead() {
            var message = [UInt8](repeating: 0, count: 1 << 20)
            // The opcode is the second word.
            repeat { message[4] = 0 } while read(device.number, &message, message.count) < 8 || message[4] != 15
        }

        /// Ends the kernel's connection, and whatever waits for it.
        func abort() { umount2(path, Int32(MNT_FORCE)) }

        deinit {
            abort()
            umount2(path, Int32(MNT_DETACH))
        }
    }

    @Test func `a client that takes requests away from its own mount holds up no other mount at a lock`() throws {
        let honest = try MountedVault(passcode: DaemonProcess.passcode)
        let daemon = honest.daemon
        try put("shared", to: honest.appending("b"))
        try put("secret", to: honest.appending("a"))
        #expect(setClass("complete", of: honest.appending("a")) == 0)
        let place = daemon.directory.appending("held")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let held = try HeldMount(at: place, of: daemon.connect())
        let file = try OpenDescriptor("\(place)/b", O_RDONLY)
        #expect(try file.read().get() == "shared")
        let isStolen = Shared(false)
        let reader = Background {
            while !isStolen.value {
                posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
                _ = file.read()
            }
        }
        held.stealRead()
        isStolen.value = true
        for _ in 0..<2 {
            let secret = try OpenDescriptor(honest.appending("a"), O_RDONLY)
            #expect(try secret.read().get() == "secret")
            let locked = try daemon.coffer(["lock", "--now"])
            #expect(locked.status == 0)
            #expect(locked.errors.contains(place), "\(locked.errors)")
            #expect(!locked.errors.contains(honest.path), "\(locked.errors)")
            #expect(secret.readError == EACCES)
            #expect(try daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        }
        held.abort()
        try reader.wait()
    }

    @Test func `a client that changes the flags of what it has passed has no read of the daemon wait`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        let place = daemon.directory.appending("held")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let held = try HeldMount(at: place, of: client)
        #expect(fcntl(held.device.number, F_SETFL, 0) == 0)
        for _ in 0..<3 {
            var status = stat()
            #expect(stat(place, &status) == 0)
            #expect(try client.status().state == .unlocked)
        }
    }

    @Test func `a mount above the state directory hides nothing from the daemon`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        let above = daemon.directory.path
        let held = try HeldMount(at: above, of: client)
        #expect(access("\(held.path)/state", F_OK) != 0)
        for count in [10, 100_000] {
            let bytes = [UInt8](repeating: 7, count: count)
            try client.put("of \(count) bytes", bytes)
            #expect(try client.get("of \(count) bytes") == bytes)
        }
        #expect(try content(of: "\(above)/of 100000 bytes").utf8.count == 100_000)
    }

    @Test func `one mount more than there may be is refused, and made once another one has ended`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        try client.put("a", [7]) { $0.store = .file }
        func mount(_ number: Int) throws -> HeldMount {
            let place = daemon.directory.appending("mount-\(number)")
            mkdir(place, 0o700)
            return try HeldMount(at: place, of: client)
        }
        // What is left is for other users.
        let most = Limits.mounts * 3 / 4
        var held = try (0..<most).map { try mount($0) }
        let refused = #expect(throws: CofferError.self) { try mount(most) }
        #expect(refused?.code == .notAvailable && refused?.retry == .later)
        let words = "the daemon answers \(most) mounts of yours"
        #expect(refused?.message.contains(words) == true, "\(refused?.message ?? "")")
        for one in held { #expect(access("\(one.path)/a", F_OK) == 0, "\(one.path)") }
        held.removeLast()
        #expect(settles { (try? mount(most)) != nil })
    }
}
