import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What a backup reads of a vault, and what may happen meanwhile.
@Suite struct BackupTests {
    /// A vault with a recovery key and a backup that was set up.
    private struct Place {
        let server: TestServer
        let client: BlockingClient
        let recoveryKey: [UInt8]

        init(in directory: TemporaryDirectory? = nil) throws {
            server = try TestServer(in: directory)
            client = try server.connect()
            let passcode: Secret = Secret(try SecretBytes(DaemonProcess.passcode.utf8))
            recoveryKey = try client.call(VaultInitParameters(kdf: .interactive), payload: passcode)
                .payload.exposeBytes()
            _ = try client.call(BackupRegisterParameters(repository: "/mnt/backup"))
        }

        /// Begins a backup, lets things happen, and copies what was there when it began.
        func copy(meanwhile: () throws -> Void = {}) throws -> VaultCopy {
            let backup = try server.connect()
            let sizes = try backup.call(BackupBeginParameters()).value
            try meanwhile()
            let copy = try VaultCopy(by: backup, sizes)
            let digest = Secret(try SecretBytes([UInt8](repeating: 7, count: 32)))
            let signature = try backup.call(BackupSignParameters(number: 1), payload: digest).payload
            #expect(signature.count == 64)
            try backup.call(BackupEndParameters(isCompleted: true))
            return copy
        }

        /// The digest of the snapshot of a number.
        func digest(_ number: Int64) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 32) }

        /// Opens a copy on a machine that does not have the device key.
        func open(_ copy: VaultCopy) throws -> (TestServer, BlockingClient) { try Self.open(copy, recoveryKey) }

        static func open(_ copy: VaultCopy, _ recoveryKey: [UInt8]) throws -> (TestServer, BlockingClient) {
            let other = try TestServer(in: copy.directory)
            let client = try other.connect()
            #expect(try client.status().state == .deviceKeyMissing)
            let key = Secret(try SecretBytes(recoveryKey))
            let new = Secret(try SecretBytes("a new passcode".utf8))
            let params = PasscodeChangeParameters(credential: .recoveryKey, kdf: .interactive)
            let status = try client.call(params, payload: try Secret(given: key, new: new)).value
            #expect(status.faults == [])
            return (other, client)
        }

        var contentNames: [String] {
            get throws {
                let blobs = server.directory.appending("state/blobs")
                return try FileManager.default.subpathsOfDirectory(atPath: blobs)
                    .filter { $0.count > 8 && !$0.hasPrefix("staging") }
            }
        }
    }

    private static func pattern(_ count: Int, _ seed: UInt8) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) }
    }

    @Test(arguments: [false, true])
    func `a copy made while locked, or before the first unlock, opens elsewhere with everything`(restarts: Bool) throws
    {
        let directory = try TemporaryDirectory()
        var place: Place? = try Place(in: directory)
        let recoveryKey = try #require(place?.recoveryKey)
        let client = try #require(place?.client)
        let large = Self.pattern(900_000, 3)
        try client.put("mail/token", Array("s3cr3t".utf8))
        try client.put("mail/token", Array("changed".utf8))
        try client.put("video", large)
        let file = try client.openFile(try ItemName("database"), for: .write, .create)
        try file.put(Self.pattern(300_000, 1))
        try file.sync()
        try file.put(Self.pattern(5000, 9), at: 70_000)
        try file.close()
        let copy: VaultCopy
        if restarts {
            copy = try { () throws -> VaultCopy in
                place = nil
                return try Self.copyAfterRestart(in: directory)
            }()
        } else {
            _ = try client.lock(graceSeconds: 0)
            copy = try #require(place).copy()
        }
        let (other, opened) = try Place.open(copy, recoveryKey)
        #expect(try opened.get("mail/token") == Array("changed".utf8))
        let restored = try opened.openFile(try ItemName("video")).get()
        #expect(restored == large)
        var expected = Self.pattern(300_000, 1)
        expected.replaceSubrange(70_000..<75_000, with: Self.pattern(5000, 9))
        #expect(try opened.openFile(try ItemName("database")).get() == expected)
        withExtendedLifetime((place, other)) {}
    }

    private static func copyAfterRestart(in directory: TemporaryDirectory) throws -> VaultCopy {
        let server = try TestServer(in: directory)
        let backup = try server.connect()
        #expect(try backup.status().state == .beforeFirstUnlock)
        return try VaultCopy(by: backup, try backup.call(BackupBeginParameters()).value)
    }

    @Test func `what is removed, replaced and written during a backup is in it as it was`() throws {
        let place = try Place()
        let (first, second) = (Self.pattern(300_000, 1), Self.pattern(300_000, 2))
        try place.client.put("gone", first)
        try place.client.put("replaced", first)
        let name = try ItemName("database")
        let file = try place.client.openFile(name, for: .readWrite, .create)
        try file.put(first)
        try file.sync()
        let closed = try place.client.openFile(try ItemName("closed"), for: .readWrite, .create)
        try closed.put(first)
        try closed.close()
        let copy = try place.copy {
            try place.client.remove(try ItemName("gone"))
            try place.client.put("replaced", second)
            try place.client.put("new", second)
            for round in 0..<6 {
                try file.put(Self.pattern(300_000, UInt8(round)), at: 0)
                try file.sync()
                // Its slots are known from its rows again, each time.
                let opened = try place.client.openFile(try ItemName("closed"), for: .readWrite)
                try opened.put(Self.pattern(300_000, UInt8(round)), at: 0)
                try opened.close()
            }
        }
        let (server, opened) = try place.open(copy)
        #expect(try opened.openFile(try ItemName("gone")).get() == first)
        #expect(try opened.openFile(try ItemName("replaced")).get() == first)
        #expect(try opened.openFile(name).get() == first)
        #expect(try opened.openFile(try ItemName("closed")).get() == first)
        #expect(throws: CofferError.self) { try opened.get("new") }
        withExtendedLifetime(server) {}
    }

    @Test func `a file that is emptied and written in pages during a backup is in it as it was`() throws {
        let place = try Place()
        let first = Self.pattern(300_000, 1)
        let name = try ItemName("database")
        let file = try place.client.openFile(name, for: .readWrite, .create)
        try file.put(first)
        try file.close()
        let copy = try place.copy {
            let opened = try place.client.openFile(name, for: .readWrite)
            try opened.truncate(to: 0)
            try opened.close()
            let again = try place.client.openFile(name, for: .readWrite)
            try again.put(Self.pattern(4096, 5), at: 0)
            try again.close()
        }
        let (server, opened) = try place.open(copy)
        #expect(try opened.openFile(name).get() == first)
        withExtendedLifetime(server) {}
    }

    @Test func `what was kept for a backup is removed when it ends, or its connection does`() throws {
        let place = try Place()
        for round in 0..<2 {
            try place.client.put("gone", Self.pattern(300_000, 1))
            var backup: BlockingClient? = try place.server.connect()
            _ = try backup?.call(BackupBeginParameters())
            try place.client.remove(try ItemName("gone"))
            #expect(try place.contentNames.count == 1)
            #expect(throws: CofferError.self) { try place.client.call(BackupBeginParameters()) }
            if round == 0 { _ = try backup?.call(BackupEndParameters()) }
            backup = nil
            #expect(becomesTrue { (try? place.contentNames.isEmpty) == true })
            #expect(!FileManager.default.fileExists(atPath: place.server.directory.appending("state/backup.sqlite")))
        }
        #expect(try place.client.call(BackupStatusParameters()).value.completed == nil)
    }

    @Test func `a new content that is removed during a backup is removed at once`() throws {
        let place = try Place()
        let backup = try place.server.connect()
        _ = try backup.call(BackupBeginParameters())
        try place.client.put("new", Self.pattern(300_000, 1))
        try place.client.remove(try ItemName("new"))
        #expect(becomesTrue { (try? place.contentNames.isEmpty) == true })
        withExtendedLifetime(backup) {}
    }

    @Test func `items of this device alone are counted, and the time of a snapshot is kept`() throws {
        let place = try Place()
        try place.client.put("here", [1]) { $0.accessibility = .whenUnlockedThisDeviceOnly }
        try place.client.put("everywhere", [1])
        let copy = try place.copy()
        #expect(copy.sizes.leftBehindCount == 1)
        let status = try place.client.call(BackupStatusParameters()).value
        #expect(status.completed != nil)
        #expect(status.newest == BackupReference(number: 1, digest: [UInt8](repeating: 7, count: 32)))
        #expect(status.repository == "/mnt/backup")
        // Another repository has no snapshot yet; the key stays.
        let first = try place.client.call(BackupRegisterParameters(repository: "/mnt/backup")).value.publicKey
        let other = try place.client.call(BackupRegisterParameters(repository: "/srv", warnAfterSeconds: 5)).value
        #expect(other.publicKey == first)
        #expect(try place.client.call(BackupStatusParameters()).value.completed == nil)
    }

    @Test func `without a place, the key is given, and what is recorded of the one that there is stays`() throws {
        let place = try Place()
        _ = try place.copy()
        let before = try place.client.call(BackupStatusParameters()).value
        #expect(before.newest != nil)
        let key = try place.client.call(BackupRegisterParameters()).value.publicKey
        for params in [
            BackupRegisterParameters(newestNumber: 1),
            BackupRegisterParameters(configuration: String(repeating: "0", count: 64)),
        ] {
            let error = #expect(throws: CofferError.self) { _ = try place.client.call(params) }
            #expect(error?.code == .param)
        }
        #expect(try place.client.call(BackupStatusParameters()).value == before)
        #expect(try place.client.call(BackupRegisterParameters(repository: "/srv")).value.publicKey == key)
    }

    /// Begins a backup of a vault that has a snapshot, and stores the next one.
    ///
    /// - Returns: Whether nothing was copied.
    private func storesUnchanged(_ place: Place, _ number: Int64, since digest: [UInt8]) throws -> Bool {
        let backup = try place.server.connect()
        let sizes = try backup.call(BackupBeginParameters(since: hexadecimal(digest))).value
        // As the program does, to name those that are left behind.
        if !sizes.isUnchanged { _ = try backup.call(ItemListParameters(store: .keychain, isOfAllGroups: true)) }
        try backup.store(number)
        return sizes.isUnchanged
    }

    @Test func `nothing is copied if nothing has changed since the snapshot that the client names`() throws {
        let place = try Place()
        try place.client.put("here", [1]) { $0.accessibility = .whenUnlockedThisDeviceOnly }
        let none = [UInt8](repeating: 0, count: 32)
        #expect(try !storesUnchanged(place, 1, since: none))
        for number in 2...4 as ClosedRange<Int64> {
            #expect(try storesUnchanged(place, number, since: place.digest(number - 1)))
        }
        let backup = try place.server.connect()
        let sizes = try backup.call(BackupBeginParameters(since: hexadecimal(place.digest(4)))).value
        #expect(sizes.isUnchanged && sizes.leftBehindCount == 1 && sizes.catalogByteCount > 0)
        let error = #expect(throws: CofferError.self) { try backup.call(BackupContentsParameters()) }
        #expect(error?.code == .notAvailable)
        #expect(throws: CofferError.self) { _ = try backup.backupPart("catalog") }
        try backup.call(BackupEndParameters())
        // One that was not stored changes nothing.
        #expect(try storesUnchanged(place, 5, since: place.digest(4)))
        #expect(try !storesUnchanged(place, 6, since: place.digest(4)))
        #expect(try storesUnchanged(place, 7, since: place.digest(6)))
    }

    @Test(
        arguments: [
            "an item is stored", "an item is read", "a file is written", "the passcode is changed",
            "the vault is locked", "the daemon is started again", "another repository is registered",
            "an item is stored during the backup",
        ]
    )
    func `everything is copied after any change`(change: String) throws {
        let directory = try TemporaryDirectory()
        var place: Place? = try Place(in: directory)
        let client = try #require(place?.client)
        try client.put("a", [1])
        let file = try client.openFile(try ItemName("database"), for: .write, .create)
        try file.put(Self.pattern(300_000, 1))
        try file.sync()
        let backup = try #require(place).server.connect()
        _ = try backup.call(BackupBeginParameters())
        if change.hasSuffix("during the backup") { try client.put("a", [2]) }
        try backup.store(1)
        switch change {
        case "an item is stored": try client.put("a", [2])
        case "an item is read": _ = try client.get("a")
        case "a file is written":
            try file.put(Self.pattern(5000, 9), at: 70_000)
            try file.sync()
        case "the passcode is changed":
            let secret = try Secret(
                given: Secret(try SecretBytes(DaemonProcess.passcode.utf8)),
                new: Secret(try SecretBytes("another".utf8))
            )
            _ = try client.call(PasscodeChangeParameters(kdf: .interactive), payload: secret)
        case "the vault is locked": _ = try client.lock(graceSeconds: 0)
        case "another repository is registered":
            _ = try client.call(BackupRegisterParameters(repository: "/srv"))
        default: break
        }
        let digest = try #require(place).digest(1)
        if change == "the daemon is started again" {
            place = nil
            let server = try TestServer(in: directory)
            #expect(try !server.connect().call(BackupBeginParameters(since: hexadecimal(digest))).value.isUnchanged)
            return
        }
        let next = try #require(place).server.connect()
        #expect(try !next.call(BackupBeginParameters(since: hexadecimal(digest))).value.isUnchanged)
    }

    @Test func `a vault continues the chain of a repository whose newest snapshot it has signed`() throws {
        let place = try Place()
        let backup = try place.server.connect()
        _ = try backup.call(BackupBeginParameters())
        let digest = place.digest(7)
        let signature = try backup.call(BackupSignParameters(number: 4), payload: Secret(try SecretBytes(digest)))
            .payload.exposeBytes()
        try backup.call(BackupEndParameters())
        func register(_ number: Int64?, _ proof: [UInt8]?) throws -> BackupStatus {
            let params = BackupRegisterParameters(repository: "/srv", newestNumber: number, completed: 1000)
            _ = try place.client.call(params, payload: proof.map { Secret(try SecretBytes($0)) })
            return try place.client.call(BackupStatusParameters()).value
        }
        let wrong: [(Int64, [UInt8]?)] = [
            (5, digest + signature), (4, digest + digest + digest), (4, digest), (4, nil),
        ]
        for (number, proof) in wrong {
            let error = #expect(throws: CofferError.self) { _ = try register(number, proof) }
            #expect(error?.code == .param)
        }
        #expect(try place.client.call(BackupStatusParameters()).value.repository == "/mnt/backup")
        let status = try register(4, digest + signature)
        #expect(status.newest == BackupReference(number: 4, digest: digest))
        #expect((status.repository, status.completed) == ("/srv", 1000))
        _ = try backup.call(BackupBeginParameters())
        let other = Secret(try SecretBytes(place.digest(8)))
        #expect(throws: CofferError.self) { try backup.call(BackupSignParameters(number: 4), payload: other) }
    }

    @Test func `the ThisDeviceOnly items are counted in every state`() throws {
        let place = try Place()
        for number in 0..<300 {
            try place.client.put("here/\(number)", [1]) {
                $0.accessibility = number < 130 ? .whenUnlockedThisDeviceOnly : .whenUnlocked
            }
        }
        func count() throws -> Int? {
            try place.client.call(BackupStatusParameters(countsLeftBehind: true)).value.leftBehindCount
        }
        #expect(try count() == 130)
        _ = try place.client.lock(graceSeconds: 0)
        #expect(try count() == 130)
        #expect(try place.client.call(BackupStatusParameters()).value.leftBehindCount == nil)
    }

    @Test func `a vault that was erased has no backup any more`() throws {
        let place = try Place()
        let backup = try place.server.connect()
        _ = try backup.call(BackupBeginParameters())
        try place.client.eraseWhateverIsThere()
        #expect(throws: CofferError.self) { try backup.call(BackupContentsParameters()) }
        let state = place.server.directory.appending("state")
        let names = try FileManager.default.contentsOfDirectory(atPath: state)
        #expect(names.allSatisfy { !$0.hasPrefix("backup") })
    }
}

extension BlockingClient {
    /// Completes the backup of this connection, as the snapshot of a number.
    fileprivate func store(_ number: Int64) throws {
        let digest = Secret(try SecretBytes([UInt8](repeating: UInt8(number), count: 32)))
        _ = try call(BackupSignParameters(number: number), payload: digest)
        try call(BackupEndParameters(isCompleted: true))
    }
}
