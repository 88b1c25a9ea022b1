import CofferTestSupport
import Foundation
import Testing

/// What a mount does when the disk below the vault is unplugged.
@Suite(
    .enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"),
    .enabled(if: UnpluggableDisk.isPossible, "only root can mount a disk, and only with loop devices")
)
struct MountUnpluggedTests {
    private func makeVault(_ disk: UnpluggableDisk) throws {
        let made = try disk.daemon.coffer(
            ["init", "--no-recovery-key", "--kdf", "interactive"],
            passcode: DaemonProcess.passcode
        )
        #expect(made.status == 0, "\(made.errors)")
    }

    @Test func `without its disk everything is EIO, and what was synced is there when it is back`() throws {
        let disk = try UnpluggableDisk()
        try makeVault(disk)
        let mount = try MountedVault(of: disk.daemon)
        #expect(mkdir(mount.appending("d"), 0o755) == 0)
        for number in 0..<20 {
            let file = try OpenDescriptor(mount.appending("d/\(number)"), O_RDWR | O_CREAT)
            #expect(file.write("synced \(number)") == 0)
            #expect(file.sync() == 0)
        }
        let open = try OpenDescriptor(mount.appending("open"), O_RDWR | O_CREAT)
        #expect(open.write("synced") == 0)
        #expect(open.sync() == 0)
        #expect(open.write("not synced", at: 6) == 0)

        try disk.unplug()
        #expect(open.sync() == EIO)
        #expect(open.write("x", at: 0) == EIO)
        #expect(errnoOf { Int(mkdir(mount.appending("e"), 0o755)) } == EIO)
        #expect(errnoOf { Int(unlink(mount.appending("d/1"))) } == EIO)
        #expect(errnoOf { Int(rename(mount.appending("d/2"), mount.appending("d/x"))) } == EIO)
        #expect(errnoOf { Int(access(mount.appending("new"), F_OK)) } == EIO)
        #expect(mount.isMounted)
        #expect(disk.daemon.isRunning)

        try disk.plugIn()
        let unlocked = try disk.daemon.coffer(["unlock"], passcode: DaemonProcess.passcode)
        #expect(unlocked.status == 0, "\(unlocked.errors)")
        try mount.mount()
        for number in 0..<20 { #expect(try content(of: mount.appending("d/\(number)")) == "synced \(number)") }
        #expect(try content(of: mount.appending("open")).hasPrefix("synced"))
        #expect(try disk.daemon.coffer(["doctor"]).status == 0)
    }

    @Test func `what was written is on the disk when umount returns, though no program has synced it`() throws {
        let disk = try UnpluggableDisk()
        try makeVault(disk)
        let mount = try MountedVault(of: disk.daemon)
        for number in 0..<20 {
            let file = try OpenDescriptor(mount.appending("\(number)"), O_RDWR | O_CREAT)
            #expect(file.write("written \(number)") == 0)
        }
        let script = "import mmap, os; mmap.mmap(os.open('0', os.O_RDWR), 9)[:] = b'changed 0'"
        let changed = try runCommand("/usr/bin/python3", ["-c", script], directory: mount.path)
        #expect(changed.status == 0, "\(changed.errors)")
        try mount.unmount()
        try disk.unplug()
        try disk.plugIn()
        #expect(try disk.daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        #expect(try disk.daemon.coffer(["file", "read", "0"]).text == "changed 0")
        for number in 1..<20 {
            #expect(try disk.daemon.coffer(["file", "read", "\(number)"]).text == "written \(number)")
        }
        #expect(try disk.daemon.coffer(["doctor"]).status == 0)
    }

    @Test func `a lock wipes the keys without a disk`() throws {
        let disk = try UnpluggableDisk()
        try makeVault(disk)
        #expect(try disk.daemon.coffer(["put", "a"], input: Array("secret".utf8)).status == 0)
        try disk.unplug()
        #expect(try disk.daemon.coffer(["lock", "--now"]).status == 0)
        #expect(try disk.daemon.coffer(["status"]).text.contains("locked"))
        let refused = try disk.daemon.coffer(["get", "a"])
        #expect(refused.status != 0)
        #expect(refused.text == "")
        try disk.plugIn()
        #expect(try disk.daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        #expect(try disk.daemon.coffer(["get", "a"]).text == "secret")
    }
}
