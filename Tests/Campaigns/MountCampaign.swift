import CofferTestSupport
import Foundation

/// Random operations on a mount and on a plain directory, with a kill of the daemon and an end of the mount between them: the
/// outcomes are the same, and what was written is there.
enum MountCampaign {
    private static let operationCount = 1000

    static func run(_ report: Report) throws {
        try expect(MountedVault.isPossible, "there is no /dev/fuse that this user may open")
        for number in report.cases { report.attempt(number) { try attack(report.generator(of: number)) } }
    }

    private static func attack(_ generator: Generator) throws {
        var generator = generator
        let plain = try TemporaryDirectory()
        let mount = try MountedVault()
        let twins = TwinDirectories(mount.path, plain.path, seed: generator.next())
        try operate(twins)
        try daemonLetsGo(mount.daemon)
        try mount.restart()
        try compare(twins, "after a kill of the daemon")
        try operate(twins)
        try daemonLetsGo(mount.daemon)
        mount.kill()
        try mount.mount()
        try compare(twins, "after an end of the mount")
    }

    private static func operate(_ twins: TwinDirectories) throws {
        for number in 0..<operationCount {
            if let difference = twins.step() { throw Fault("operation \(number): \(difference)") }
        }
        twins.closeAll()
    }

    private static func daemonLetsGo(_ daemon: DaemonProcess) throws {
        let areGone = settles { daemon.removedFiles.isEmpty }
        try expect(areGone, "removed files stay open: \(daemon.removedFiles.joined(separator: ", "))")
    }

    private static func compare(_ twins: TwinDirectories, _ moment: String) throws {
        let differences = twins.differences()
        try expect(differences.isEmpty, "\(moment): \(differences.joined(separator: "; "))")
    }
}
