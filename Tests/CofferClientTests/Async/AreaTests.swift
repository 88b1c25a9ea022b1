import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// One call of each area on a real vault; the tests of the blocking client check the wire.
@Suite struct `A client's areas` {
    private func withVault(_ body: (CofferClient, Secret) async throws -> Void) async throws {
        let server = try TestServer(graceSeconds: 0)
        try await CofferClient.withConnection(to: server.directory.appending("socket")) { client in
            let passcode = try Secret(exposed: "1234")
            let made = try await client.call(
                VaultInitParameters(kdf: .interactive, hasNoPasscode: false),
                payload: passcode
            )
            #expect(made.value.state == .unlocked)
            #expect(made.payload.count > 20)
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
            let both = try Secret(given: Secret(exposed: "1234"), new: Secret(exposed: "5678"))
            let change = PasscodeChangeParameters(credential: .passcode, kdf: .interactive, erasesData: nil)
            try await client.call(change, payload: both)
            let slot = try await client.call(SlotAddParameters(credential: .passcode), payload: next)
            let tested = try await client.call(SlotTestParameters(credential: .recoveryKey), payload: slot.payload)
            #expect(tested.value.number == slot.value.number)
            let slots = try await client.call(SlotListParameters()).value.slots
            #expect(slots.contains { Int64($0.number) == Int64(slot.value.number) })
            let removal = SlotRemoveParameters(number: slot.value.number, credential: .passcode)
            try await client.call(removal, payload: next)
            try await client.lock()
            #expect(try await client.unlock(with: next).state == .unlocked)
            let vaultID = try await client.status().vaultID
            try await client.call(VaultEraseParameters(vaultID: vaultID))
            #expect(try await client.status().state == .noVault)
        }
    }

    @Test func `keep items`() async throws {
        try await withVault { client, _ in
            let (name, target) = (try ItemName("github.com/token"), try ItemName("github.com/old"))
            let secret = try Secret(exposed: "s3cr3t")
            let question = ItemExplainParameters(name: name, byteCount: 6, wishes: PlacementOptions())
            #expect(try await client.call(question).value.placement.protection.store == .keychain)
            try await client.put(name, secret)
            #expect(try await client.call(ItemShowParameters(name: name)).value.name == name.path)
            #expect(try await client.get(name).isEqual(to: secret))
            #expect(try await client.get(name, offset: 2, length: 3).exposeText() == "cr3")
            try await client.call(ItemMoveParameters(name: name, target: target))
            try await client.call(ItemProtectParameters(name: target, protection: .keychain(.afterFirstUnlock)))
            for number in 0..<5 { try await client.put(try ItemName("n/\(number)"), secret) }
            var names: [String] = []
            for try await item in client.list(prefix: "n/") { names.append(item.name) }
            #expect(names.sorted() == ["n/0", "n/1", "n/2", "n/3", "n/4"])
            try await client.call(ItemRemoveParameters(name: target))
            let error = await failure { () throws(CofferError) in
                try await client.call(ItemShowParameters(name: target))
            }
            #expect(error?.code == .itemNotFound)
        }
    }

    @Test func `keep what a descriptor gives, and give it to one`() async throws {
        try await withVault { client, _ in
            let name = try ItemName("backup.tar")
            let content = [UInt8](repeating: 7, count: 100_000)
            let folder = try TemporaryDirectory()
            let source = FileHandle(forReadingAtPath: try folder.write(content, to: "source"))
            let target = FileHandle(forUpdatingAtPath: try folder.write([], to: "target"))
            try await client.call(ItemPutParameters(name: name), passing: source?.fileDescriptor)
            let returned = try await client.call(ItemGetParameters(name: name), passing: target?.fileDescriptor)
            #expect(returned.value.delivery == .descriptor && returned.payload.count == 0)
            try target?.seek(toOffset: 0)
            #expect(try target?.readToEnd() == Data(content))
        }
    }

    @Test func `keep the keychain`() async throws {
        try await withVault { client, _ in
            let query = KeychainQuery(.genericPassword, [.service: .text("mail"), .account: .text("anna")])
            let item = KeychainAddParameters(.genericPassword, [.service: .text("mail"), .account: .text("anna")])
            let added = try await client.call(item, payload: try Secret(exposed: "one")).value
            let update = KeychainUpdateParameters(query, KeychainChange())
            #expect(try await client.call(update, payload: try Secret(exposed: "two")).value.count == 1)
            let find = KeychainFindParameters(query, returns: [.attributes, .data])
            let found = try await client.call(find)
            #expect(found.value.items.map(\.reference) == [added.reference])
            #expect(
                try found.secrets().map { $0?.exposeText() } == ["two"]
            )
            let former = try await client.call(KeychainHistoryParameters(query)).value.values
            let number = Int64(try #require(former.first?.number))
            let reading = KeychainHistoryParameters(query, number: number, returns: [.data])
            #expect(try await client.call(reading).payload.exposeText() == "one")
            try await client.call(KeychainRestoreParameters(query, number: number))
            #expect(try await client.call(find).payload.exposeText() == "one")
            #expect(try await client.call(KeychainDeleteParameters(query)).value.count == 1)
            try await client.call(KeychainAddParameters(.key, [.label: .text("key")], generates: .ed25519))
            let message = try Secret(exposed: "message")
            let signature = try await client.call(KeychainSignParameters(KeychainQuery(.key)), payload: message).payload
            #expect(signature.count == 64)
            #expect(try await client.call(KeychainPublicKeyParameters(KeychainQuery(.key))).value.bytes.count == 32)
        }
    }

    @Test func `keep files`() async throws {
        try await withVault { client, _ in
            let (directory, name) = (try ItemName("d"), try ItemName("d/f"))
            try await client.call(FileMkdirParameters(name: directory))
            try await client.withFile(name, for: .readWrite, [.create]) { file in
                #expect(file.isNew)
                try await file.write(try Secret(exposed: "hello"))
                try await file.write(try Secret(exposed: " world"))
                #expect(file.byteCount == 11)
                try await file.sync()
                #expect(try await file.read(at: 6, count: 100).exposeText() == "world")
                try await file.truncate(to: 5)
                try await file.allocate(at: 0, count: 5)
            }
            #expect(try await client.call(FileStatParameters(name: name)).value.byteCount == 5)
            await #expect(throws: POSIXError.self) {
                try await client.withFile(name, for: .write) { _ in throw POSIXError(.EDOM) }
            }
            // The open would wait if the writer were not closed.
            let file = try await client.openFile(name, for: .write)
            try await file.close()
            let closed = await failure { () throws(CofferError) in try await file.sync() }
            #expect(closed?.message == "'d/f' is closed")
            try await client.call(FileRenameParameters(name: name, target: try ItemName("d/g")))
            try await client.call(FileProtectParameters(directory, .complete, .everything))
            let entries = try await client.call(FileListParameters(isRecursive: true)).value.entries
            #expect(entries.map(\.name).sorted() == ["d", "d/g"])
            #expect(try await client.call(FileRemoveParameters(name: directory, isRecursive: true)).value.count == 2)
            #expect(try await client.call(VaultCheckParameters()).value.findings.isEmpty)
        }
    }
}
