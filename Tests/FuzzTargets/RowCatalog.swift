import CofferAudit
import CofferRights
import CofferFileContent
import CofferCore
import CofferCrypto
import CofferDatabase
import CofferFiles
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferPast
import CofferSystem
import Glibc

/// A catalog with rows in every table, made once: each input changes it within a transaction that is undone.
final class RowCatalog {
    static let group = "default"

    /// The catalog's own table.
    private static let settings = Migration(
        name: "catalog: settings",
        sql: "CREATE TABLE catalog_settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;"
    )

    let connection: Connection
    let keys: VaultKeys
    private let contents: ContentDirectory

    init() throws {
        var template = Array("/tmp/coffer-rows-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let directory = try Directory(makingPath: path)
        let source = try DeviceKeySource(in: directory, credentialsPath: nil)
        _ = try VaultKeys.create(
            in: directory,
            source,
            VaultPlan(passcode: nil, recoveryPublicKey: nil, erasesData: false)
        )
        guard case .vault(let keys) = try VaultKeys.open(in: directory, source, at: 0) else {
            throw SystemError("open")
        }
        self.keys = keys
        connection = try Connection(path: path + "/vault.sqlite")
        try connection.migrate(
            [Self.settings] + PastStore.migrations + KeychainStore.migrations + FileStore.migrations
                + AuditLog.migrations + AccessRuleStore.migrations,
            applicationID: 1
        )
        contents = try ContentDirectory(in: directory)
        try fill()
        // What a flipped byte of the file does, and no statement: any type in any column.
        try connection.execute("PRAGMA writable_schema = ON")
        try connection.execute(
            "UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), ', WITHOUT', 'WITHOUT')"
        )
        try connection.execute("PRAGMA writable_schema = RESET")
        // All of it is held by what is open: nothing is left in the file system.
        try Directory(openingPath: "/tmp").removeTree(String(path.dropFirst("/tmp/".count)))
    }

    var keychain: KeychainStore { KeychainStore(connection: connection, keys: keys) }
    var past: PastStore { PastStore(connection: connection, keys: keys) }
    var files: FileStore { FileStore(connection: connection, keys: keys, contents: contents) }

    // MARK: Filling

    private func fill() throws {
        let keychain = keychain
        for (account, accessibility) in [("a", Accessibility.whenUnlocked), ("b", .always)] {
            for secret in ["first", "second", "third"] {
                try keychain.put(
                    GenericPasswordKey(group: Self.group, service: "s", account: account),
                    secret: try SecretBytes(copying: Array(secret.utf8).span.bytes),
                    accessibility: accessibility,
                    kind: .token,
                    created: nil,
                    now: 1000
                )
            }
        }
        if let removed = try keychain.find(GenericPasswordKey(group: Self.group, service: "s", account: "b")) {
            let moment = TrashMoment(wall: 1000, boot: 1000, bootID: "boot")
            _ = try keychain.discard(removed, at: moment)
            try keychain.put(
                GenericPasswordKey(group: Self.group, service: "s", account: "b"),
                secret: try SecretBytes(zeros: 4),
                accessibility: .always,
                kind: nil,
                created: nil,
                now: 2000
            )
        }
        var server = ItemAttributes(.internetPassword, in: Self.group)
        server.values = [.server: .text("example.org"), .port: .integer(443), .expiryDate: .date(2000)]
        server.user = ["colour": "red"]
        _ = try keychain.add(server, secret: try SecretBytes(zeros: 8), accessibility: .afterFirstUnlock, now: 1000)
        try fillFiles()
        let audit = try AuditLog(connection: connection, keys: keys, isNew: true)
        for action in ["item.get", "item.put"] {
            audit.note(
                AuditRecord(time: 1, client: ClientIdentity(userID: 1, groupID: 1), action: action, state: .noPasscode)
            )
            try audit.write(at: 1)
            _ = audit.confirm()
        }
        let rules = AccessRuleStore(connection: connection, keys: keys)
        for kind in AccessRuleKind.allCases {
            let (client, pattern) = (ClientPattern.unit("ci@*.service"), try NamePattern("s/*"))
            var rule = AccessRule(number: 0, kind: kind, client: client, verbs: [.read], group: Self.group)
            rule.pattern = pattern
            _ = try rules.add(rule, until: nil)
            rule = AccessRule(number: 0, kind: kind, client: .user(1), verbs: [.read], group: Self.group)
            (rule.name, rule.uses, rule.reason) = (try ItemName("s/a"), 5, "because")
            let end = RuleEnd(bootID: "boot", time: 1_000_000)
            _ = try rules.add(rule, until: end, itemCreated: 1000, isNamedInEveryState: kind == .allow)
        }
        try connection.execute("INSERT INTO file_dead_contents VALUES (randomblob(16))")
        try connection.execute(
            "INSERT INTO file_logged_chunks SELECT content, 0, randomblob(4112) FROM file_nodes WHERE kind = 2"
        )
        try connection.execute(
            """
            INSERT INTO keychain_quarantine (damage, moved, row, uuid, class_key, primary_tag, metadata, wrapped_key, secret)
            SELECT 'row', 1, id, uuid, class_key, primary_tag, metadata, wrapped_key, secret
            FROM keychain_items WHERE id = 2
            """
        )
        try connection.execute(
            """
            INSERT INTO file_quarantine (damage, moved, row, parent, name_tag, kind, class_key, content, wrapped_key, metadata)
            SELECT 'row', 1, id, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes WHERE kind = 2
            """
        )
    }

    private func fillFiles() throws {
        let files = files
        // The third time, what was there becomes a version.
        let paths = [("f", ProtectionClass.complete), ("d/g", .completeUnlessOpen), ("d/g", .completeUnlessOpen)]
        for (path, protectionClass) in paths {
            let name = try ItemName(path)
            let write = try files.prepareWrite(name, in: Self.group, as: protectionClass)
            let count = try write.perform(prefix: try SecretBytes(zeros: 100), rest: nil)
            try files.commit(
                write,
                at: name,
                in: Self.group,
                byteCount: count,
                kind: .document,
                created: nil,
                keepCount: path == "d/g" ? 2 : nil,
                now: 1000
            )
            files.openContents.finished(write)
        }
        files.settle()
        let open = try files.openFiles.create(try ItemName("h"), in: Self.group, as: .none, now: 1000)
        for chunk in [Int64(0), 2] {
            let bytes: SecretBytes? = try SecretBytes(zeros: 10)
            let place = chunk * Int64(Limits.chunkBytes)
            let written = try files.plans.writing(10, at: place, of: open).perform(bytes)
            let change = FileChange(written, size: .atLeast(place + 10), time: 1_000_000_000)
            try files.openFiles.make(change, in: open, isLogged: false)
        }
        try files.plans.syncing(open).perform()
        try files.openFiles.commit(open, now: 1000)
        files.settle()
        files.openFiles.close(open)
        try fillLinks(files)
    }

    private func fillLinks(_ files: FileStore) throws {
        let name = try ItemName("f")
        try files.makeSymbolicLink(
            try ItemName("d/s"),
            to: "g",
            in: Self.group,
            ownership: Ownership(),
            now: 1000
        )
        try files.link(name, to: try ItemName("d/l"), in: Self.group, now: 1000)
        let entry = try files.requireOwnEntry(name, in: Self.group)
        _ = try files.setExtendedAttribute("user.note", to: [1, 2, 3], of: entry, .any, now: 1000)
        files.settle()
    }
}
