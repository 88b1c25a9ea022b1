import Foundation

/// A daemon whose state is on a disk of its own, which can be unplugged and plugged in again.
///
/// The disk is an ext4 in a loop device. The file system shuts down as it does when its device is gone: each call is `EIO`
/// from then on, and what was in memory only is lost.
package final class UnpluggableDisk {
    /// The daemon.
    package let daemon: DaemonProcess
    private let disk: String
    private let image: String

    /// Whether this user can mount a loop device here.
    package static let isPossible: Bool = {
        guard geteuid() == 0, let directory = try? TemporaryDirectory() else { return false }
        let (image, disk) = (directory.appending("image"), directory.appending("disk"))
        guard (try? make(image, mountedAt: disk)) != nil else { return false }
        return (try? runCommand("/bin/umount", [disk]).status) == 0
    }()

    /// Starts a daemon on an empty disk.
    package init() throws {
        let directory = try TemporaryDirectory()
        disk = directory.appending("disk")
        image = directory.appending("image")
        try Self.make(image, mountedAt: disk)
        let state = "\(disk)/state"
        try FileManager.default.createDirectory(
            atPath: state,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        try FileManager.default.createSymbolicLink(atPath: directory.appending("state"), withDestinationPath: state)
        daemon = try DaemonProcess(in: directory)
    }

    deinit {
        daemon.kill()
        _ = try? runCommand("/bin/umount", ["--lazy", disk])
    }

    private static func make(_ image: String, mountedAt disk: String) throws {
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        try Data().write(to: URL(filePath: image))
        guard truncate(image, 128 << 20) == 0 else { throw MountError("no image: errno \(errno)") }
        let made = try runCommand("/sbin/mkfs.ext4", ["-q", image])
        guard made.status == 0 else { throw MountError(made.errors) }
        try mount(image, at: disk)
    }

    private static func mount(_ image: String, at disk: String) throws {
        let mounted = try runCommand("/bin/mount", ["-o", "loop", image, disk])
        guard mounted.status == 0 else { throw MountError(mounted.errors) }
    }

    /// Takes the device away from the file system, with all that it has not written.
    package func unplug() throws {
        let directory = open(disk, O_RDONLY | O_DIRECTORY)
        guard directory >= 0 else { throw MountError("no disk: errno \(errno)") }
        defer { close(directory) }
        // EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH.
        var flags = UInt32(2)
        guard ioctl(directory, 0x8004_587D, &flags) == 0 else { throw MountError("not unplugged: errno \(errno)") }
    }

    /// Ends the daemon, and starts it again on the disk that is plugged in again.
    package func plugIn() throws {
        daemon.kill()
        let removed = try runCommand("/bin/umount", [disk])
        guard removed.status == 0 else { throw MountError(removed.errors) }
        try Self.mount(image, at: disk)
        try daemon.restart()
    }
}
