import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// One call of each area, on a real vault: what travels is the blocking client's concern, too.
@Suite struct `A client's areas` {
    private func withVault(_ body: (CofferClient, Secret) async throws -> Void) async throws {
        let server = try TestServer(graceSeconds: 0)
        try await CofferClient.withConnection(to: server.directory.appending("socket")) { client in
            let passcode = try Secret(exposed: "1234")
            let made = try await client.initialize(passcode: passcode, kdf: .interactive)
            #expect(made.status.state == .unlocked)
            #expect((made.recoveryKey?.count ?? 0) > 20)
            try await body(client, passcode)
        }
        withExtendedLifetime(server) {}
    }

    @Test func `keep the vault's keys`() async throws {
        try await withVault { client, passcode in
            #expect(try await client.lock().state == .locked)
            let wrong = await failure { () throws(CofferError) in
                try await client.unlock(with: try Secret(exposed: "1235"))
            }
            #expect(wrong?.code == .authFailed)
            #expect(try await client.unlock(with: passcode).state == .unlocked)
            let next = try Secret(exposed: "5678")
            try await client.changePasscode(with: passcode, to: next, kdf: .interactive)
            let slot = try await client.addKeyslot(with: next)
            #expect(try await client.testKeyslot(with: slot.recoveryKey) == slot.number)
            #expect(try await client.keyslots().contains { $0.number == slot.number })
            try await client.removeKeyslot(slot.number, with: next)
            try await client.lock()
            #expect(try await client.unlock(with: next).state == .unlocked)
            let vaultID = try await client.status().vaultID
            try await client.erase(vaultID: vaultID)
            #expect(try await client.status().state == .noVault)
        }
    }

    @Test func `keep items`() async throws {
        try await withVault { client, _ in
            let (name, target) = (try ItemName("github.com/token"), try ItemName("github.com/old"))
            let secret = try Secret(exposed: "s3cr3t")
            #expect(try await client.explain(name, byteCount: 6).placement.protection.store == .keychain)
            try await client.put(name, secret)
            #expect(try await client.show(name).name == name.path)
            #expect(try await client.get(name).isEqual(to: secret))
            #expect(try await client.get(name, offset: 2, length: 3).exposeText() == "cr3")
            try await client.move(name, to: target)
            try await client.protect(target, as: .keychain(.afterFirstUnlock))
            for number in 0..<5 { try await client.put(try ItemName("n/\(number)"), secret) }
            var names: [String] = []
            for try await item in client.list(prefix: "n/") { names.append(item.name) }
            #expect(names == ["n/0", "n/1", "n/2", "n/3", "n/4"])
            try await client.remove(target)
            let error = await failure { () throws(CofferError) in try await client.show(target) }
            #expect(error?.code == .itemNotFound)
        }
    }

    @Test func `keep the keychain`() async throws {
        try await withVault { client, _ in
            let query = KeychainQuery(.genericPassword, [.service: .text("mail"), .account: .text("anna")])
            let added = try await client.addKeychainItem(
                .genericPassword,
                [.service: .text("mail"), .account: .text("anna")],
                secret: try Secret(exposed: "one")
            )
            #expect(try await client.updateKeychainItems(query, secret: try Secret(exposed: "two")).count == 1)
            let matches = try await client.keychainSecrets(query)
            #expect(matches.page.items.map(\.reference) == [added.reference])
            #expect(matches.secrets.map { $0?.exposeText() } == ["two"])
            let former = try await client.keychainHistory(of: query)
            let number = try #require(former.first?.number)
            #expect(try await client.formerValue(number, of: query).exposeText() == "one")
            try await client.restoreFormerValue(number, of: query)
            #expect(try await client.keychainSecrets(query).secrets.first??.exposeText() == "one")
            var references: [ItemID] = []
            for try await item in client.keychainItems(KeychainQuery(.genericPassword)) {
                references.append(item.reference)
            }
            #expect(references == [added.reference])
            #expect(try await client.deleteKeychainItems(query) == 1)
            _ = try await client.makeKeychainKey(.ed25519, [.label: .text("key")])
            let signature = try await client.sign(try Secret(exposed: "message"), with: KeychainQuery(.key))
            #expect(signature.count == 64)
            #expect(try await client.publicKey(of: KeychainQuery(.key)).bytes.count == 32)
        }
    }

    @Test func `keep files`() async throws {
        try await withVault { client, _ in
            let (directory, name) = (try ItemName("d"), try ItemName("d/f"))
            try await client.makeDirectory(directory)
            try await client.withFile(name, for: .readWrite, [.create]) { file in
                #expect(file.isNew)
                try await file.write(try Secret(exposed: "hello"))
                try await file.write(try Secret(exposed: " world"))
                #expect(await file.byteCount == 11)
                try await file.sync()
                #expect(try await file.read(at: 6, count: 100).exposeText() == "world")
                try await file.truncate(to: 5)
                try await file.allocate(at: 0, count: 5)
            }
            #expect(try await client.fileInfo(name).byteCount == 5)
            await #expect(throws: POSIXError.self) {
                try await client.withFile(name, for: .write) { _ in throw POSIXError(.EDOM) }
            }
            // It would wait for the writer, if that were not closed.
            let file = try await client.openFile(name, for: .write)
            try await file.close()
            let closed = await failure { () throws(CofferError) in try await file.sync() }
            #expect(closed?.message == "'d/f' is closed")
            try await client.moveFile(name, to: try ItemName("d/g"))
            try await client.protectFile(directory, as: .complete, .everything)
            var paths: [String] = []
            for try await entry in client.listFiles(recursive: true) { paths.append(entry.name) }
            #expect(paths == ["d", "d/g"])
            #expect(try await client.removeFile(directory, recursive: true) == 2)
            #expect(try await client.checkVault().findings.isEmpty)
        }
    }
}
