import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

private let isRoot = geteuid() == 0
private let why: Comment = "only root can mount a disk that is full so soon"

@Suite struct `On a disk without a free byte` {
    @Test(.enabled(if: isRoot, why))
    func `the owner gets in, wrong passcodes count, and what is there is read`() throws {
        let disk = try SmallDisk()
        let client = try disk.daemon.connect()
        try client.makeVault(passcode: DaemonProcess.passcode)
        try client.put("s/kept", [1, 2, 3]) { $0.kind = .token }
        _ = try client.lock(graceSeconds: 0)
        for round in 0..<3 {
            try disk.fill()
            #expect(try disk.run("unlock", passcode: "wrong") == 77, "\(disk.lastErrors)")
            #expect(try disk.daemon.connect().status().failedAttempts == 1)
            disk.daemon.kill()
            try disk.fill()
            try disk.daemon.restart()
            #expect(try disk.daemon.connect().status().failedAttempts == 1, "round \(round)")
            #expect(try disk.run("unlock", passcode: DaemonProcess.passcode) == 0, "\(disk.lastErrors)")
            #expect(try disk.daemon.connect().status().failedAttempts == 0)
            #expect(try disk.daemon.connect().get("s/kept") == [1, 2, 3])
            #expect(try disk.run("doctor") == 0, "\(disk.lastErrors)")
            #expect(try disk.run("lock", "--now") == 0, "\(disk.lastErrors)")
        }
    }
}

@Suite struct `What makes room on a disk without a free byte` {
    private static let large = pseudoRandomBytes(400_000)

    private func disk(mebibytes: Int = 4) throws -> SmallDisk {
        let disk = try SmallDisk(mebibytes: mebibytes)
        let client = try disk.daemon.connect()
        try client.makeVault(passcode: nil)
        for number in 0..<8 { try client.put("s/\(number)", pseudoRandomBytes(20_000)) { $0.kind = .token } }
        for number in 0..<3 { try client.put("f/\(number)", Self.large) { $0.kind = .database } }
        return disk
    }

    @Test(.enabled(if: isRoot, why), arguments: [false, true])
    func `is the removal of files, after which the vault stores again`(afterCrash: Bool) throws {
        let disk = try disk()
        try disk.fill()
        if afterCrash {
            disk.daemon.kill()
            try disk.fill()
            try disk.daemon.restart()
            try disk.fill()
        }
        let refused = try disk.run("put", "more", "--kind", "document", input: Self.large)
        #expect(refused == 74)
        #expect(try disk.run("remove", "f/0") == 0, "\(disk.lastErrors)")
        #expect(disk.freeBytes >= 100_000)
        #expect(try disk.run("put", "note", "--kind", "token", input: [1, 2, 3]) == 0, "\(disk.lastErrors)")
        #expect(try disk.run("file", "remove", "f/1") == 0, "\(disk.lastErrors)")
        #expect(try disk.run("put", "more", "--kind", "document", input: Self.large) == 0, "\(disk.lastErrors)")
        #expect(try disk.run("doctor") == 0, "\(disk.lastErrors)")
        #expect(try disk.daemon.connect().list().items.count == 8 + 3)
    }

    @Test(.enabled(if: isRoot, why))
    func `is the removal of secrets, of each of them, whatever else wants the room`() throws {
        let disk = try disk()
        for number in 0..<8 {
            try disk.fill()
            let put = try disk.run("put", "more", "--kind", "token", input: pseudoRandomBytes(30_000))
            #expect([0, 74].contains(put))
            try disk.fill()
            #expect(try disk.run("remove", "--now", "s/\(number)") == 0, "\(number): \(disk.lastErrors)")
        }
        #expect(try disk.run("doctor") == 0, "\(disk.lastErrors)")
        disk.daemon.kill()
        try disk.daemon.restart()
        let names = try disk.daemon.connect().list().items.map(\.name)
        #expect(names.filter { $0.hasPrefix("s/") } == [])
        try disk.makeRoom()
        #expect(try disk.run("put", "note", "--kind", "token", input: [1]) == 0, "\(disk.lastErrors)")
    }

    @Test(.enabled(if: isRoot, why))
    func `is the removal of a directory, and of what the quarantine has`() throws {
        // The log of so many changes takes half of it, if it is not checkpointed meanwhile.
        let disk = try disk(mebibytes: 6)
        let client = try disk.daemon.connect()
        for number in 0..<40 { try client.put("d/\(number)", [1]) { $0.kind = .database } }
        try disk.fill()
        #expect(try disk.run("file", "remove", "--recursive", "d") == 0, "\(disk.lastErrors)")
        #expect(try client.list().items.count == 8 + 3)
    }

    @Test(.enabled(if: isRoot, why))
    func `has its reserve again as soon as there is room`() throws {
        let disk = try disk()
        let reserve = "\(disk.daemon.statePath)/reserve"
        func held() throws -> Int {
            try FileManager.default.attributesOfItem(atPath: reserve)[.size] as? Int ?? -1
        }
        #expect(try held() == Limits.diskReserveBytes)
        try disk.fill()
        #expect(try disk.run("remove", "s/0") == 0, "\(disk.lastErrors)")
        try disk.makeRoom()
        #expect(try disk.run("put", "note", "--kind", "token", input: [1]) == 0, "\(disk.lastErrors)")
        #expect(try held() == Limits.diskReserveBytes)
        var status = stat()
        try #require(stat(reserve, &status) == 0)
        #expect(Int(status.st_blocks) * 512 >= Limits.diskReserveBytes, "it has its blocks")
        #expect(status.st_mode & 0o077 == 0)
    }
}

@Suite struct `Beyond the limit of the size of files` {
    private static let limited = ["/bin/sh", "-c", "ulimit -f 600; exec \"$@\"", "sh"]

    @Test func `nothing is stored, what was is there, and the daemon lives`() throws {
        let daemon = try DaemonProcess(launchedBy: Self.limited)
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        try client.put("kept", [1, 2, 3]) { $0.kind = .token }
        let document = try daemon.coffer(
            ["put", "document", "--kind", "document"],
            input: pseudoRandomBytes(400_000)
        )
        #expect(document.status == 74)
        #expect(document.errors.contains("file-size limit"), "\(document.errors)")
        var refusal: CofferError?
        for number in 0..<100 where refusal == nil {
            do {
                try client.put("s/\(number)", pseudoRandomBytes(30_000)) { $0.kind = .token }
            } catch let error as CofferError {
                refusal = error
            }
        }
        #expect(refusal?.code == .diskFull)
        #expect(refusal?.message.contains("file-size limit") == true)
        #expect(try client.get("kept") == [1, 2, 3])
        #expect(daemon.isRunning)
    }

    @Test func `coffer says why it can't write a file, and leaves none`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        // What is longer is written by the daemon, to a descriptor.
        try client.put("secret", pseudoRandomBytes(30_000)) { $0.kind = .token }
        let verb = ["get", "secret", "--output", "file"]
        let result = try runCommand(
            "/bin/sh",
            ["-c", "ulimit -f 8; exec \"$@\"", "sh", "\(Project.binaries)/coffer"] + verb,
            environment: ["COFFER_SOCKET": daemon.socketPath],
            directory: daemon.directory.path
        )
        #expect(result.status == 74, "\(result.errors)")
        #expect(result.errors.contains("file-size limit"), "\(result.errors)")
        #expect(daemon.directory.contents("file") == nil)
    }
}
