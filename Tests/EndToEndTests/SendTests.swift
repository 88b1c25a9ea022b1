import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `coffer send` and `coffer receive`, between two vaults.
@Suite struct SendTests {
    private func vault() throws -> (daemon: DaemonProcess, client: BlockingClient) {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        return (daemon, client)
    }

    /// A file with the recipient of a vault, in the directory of another one.
    private func introduce(_ receiver: DaemonProcess, to sender: DaemonProcess) throws -> String {
        let printed = try receiver.coffer(["receive", "--recipient"])
        try #require(printed.status == 0, "\(printed.errors)")
        #expect(printed.text.hasPrefix("coffer-recipient-1:"))
        let path = sender.directory.appending("recipient")
        try Data(printed.output).write(to: URL(filePath: path))
        return path
    }

    private func send(_ name: String, from sender: DaemonProcess, to receiver: DaemonProcess) throws -> String {
        let recipient = try introduce(receiver, to: sender)
        let path = receiver.directory.appending("parcel")
        let sent = try sender.coffer(["send", name, "--to", recipient, "--output", path])
        try #require(sent.status == 0, "\(sent.errors)")
        return path
    }

    @Test func `a secret arrives with its kind and its attributes, below received`() throws {
        let ((one, first), (other, second)) = (try vault(), try vault())
        let stored = try one.coffer(
            ["put", "a/token", "--kind", "token", "--note", "of the build"],
            input: Array("s3cret".utf8)
        )
        try #require(stored.status == 0, "\(stored.errors)")
        let parcel = try send("a/token", from: one, to: other)
        let bytes = try Data(contentsOf: URL(filePath: parcel))
        #expect(bytes.range(of: Data("s3cret".utf8)) == nil && bytes.range(of: Data("token".utf8)) == nil)
        let received = try other.coffer(["receive", parcel])
        #expect(received.status == 0, "\(received.errors)")
        #expect(received.text == "received received/a/token\n")
        #expect(try second.get("received/a/token") == Array("s3cret".utf8))
        let info = try second.show(try ItemName("received/a/token"))
        #expect(info.kind == .token && info.attributes?[.comment] == .text("of the build"))
        // Nothing is replaced, and another name is accepted.
        #expect(try other.coffer(["receive", parcel]).status == 73)
        #expect(try other.coffer(["receive", parcel, "--as", "b"]).status == 0)
        #expect(try second.get("b") == Array("s3cret".utf8))
        _ = first
    }

    @Test(arguments: [("secret", 100), ("large", 60_000)])
    func `what comes while the vault is locked waits, and is taken in after the unlock`(
        kind: String,
        count: Int
    ) throws {
        let ((one, first), (other, second)) = (try vault(), try vault())
        let content = pseudoRandomBytes(count)
        try first.put("item", content)
        let parcel = try send("item", from: one, to: other)
        for _ in 0..<2 {
            _ = try second.lock(graceSeconds: 0)
            let printed = try other.coffer(["receive", "--recipient"])
            #expect(printed.status == 0, "its public half is there in every state: \(printed.errors)")
            let kept = try other.coffer(["receive", parcel])
            #expect(kept.status == 0, "\(kept.errors)")
            #expect(kept.text.contains("waits for an unlock"))
            #expect(try other.coffer(["receive"]).status == 75)
        }
        try second.unlock()
        let taken = try other.coffer(["receive"])
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(try second.get("received/item") == content)
        #expect(try second.list().items.filter { $0.name.contains("waiting") }.isEmpty)
    }

    @Test func `before the first unlock it waits as well`() throws {
        let ((one, first), (other, _)) = (try vault(), try vault())
        try first.put("item", [1, 2, 3])
        let parcel = try send("item", from: one, to: other)
        try other.restart()
        let kept = try other.coffer(["receive", parcel])
        #expect(kept.status == 0, "\(kept.errors)")
        try other.connect().unlock()
        #expect(try other.coffer(["receive"]).status == 0)
        #expect(try other.connect().get("received/item") == [1, 2, 3])
    }

    @Test func `a changed parcel, and one for another vault, are refused by name and store nothing`() throws {
        let ((one, first), (other, second)) = (try vault(), try vault())
        try first.put("item", [1, 2, 3])
        let parcel = try send("item", from: one, to: other)
        var bytes = try Data(contentsOf: URL(filePath: parcel))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(filePath: parcel))
        let changed = try other.coffer(["receive", parcel])
        #expect(changed.status == 65 && changed.errors.contains("it was changed"))
        let back = try send("item", from: one, to: one)
        let foreign = try other.coffer(["receive", back])
        #expect(foreign.status == 64 && foreign.errors.contains("another vault"))
        #expect(try second.list().items.filter { $0.name.hasPrefix("received") }.isEmpty)
    }

    @Test func `what stays on this device, what requires authentication and what is too large is not sent`() throws {
        let (daemon, client) = try vault()
        let recipient = try introduce(daemon, to: daemon)
        try client.put("here", [1]) { $0.accessibility = .whenUnlockedThisDeviceOnly }
        try client.put("large", pseudoRandomBytes(Limits.parcelContentBytes + 1))
        let added = try daemon.coffer(
            ["keychain", "add", "--service", "bank", "--account", "pin", "--access-control", "devicePasscode"],
            input: [1]
        )
        try #require(added.status == 0, "\(added.errors)")
        for name in ["here", "large", "bank/pin"] {
            let path = daemon.directory.appending("p")
            let refused = try daemon.coffer(["send", name, "--to", recipient, "--output", path])
            #expect(refused.status == 64, "\(name): \(refused.errors)")
            #expect(daemon.directory.contents("p") == nil)
        }
    }

    // MARK: The key

    @Test func `what removes everything leaves the key, which no ordinary listing shows`() throws {
        let ((one, first), (other, second)) = (try vault(), try vault())
        try first.put("item", [1, 2, 3])
        try second.put("mine", [1])
        let parcel = try send("item", from: one, to: other)
        #expect(try other.coffer(["list", "--all-groups"]).text == "default  mine\n")
        #expect(try other.coffer(["list", "--class", "key"]).text == "key:coffer recipient\n")
        #expect(try other.coffer(["remove", "--yes", "*", "**"]).status == 0)
        #expect(try other.coffer(["trash", "empty", "--yes"]).text == "destroyed 1 item\n")
        #expect(try other.coffer(["receive", parcel]).status == 0)
        #expect(try second.get("received/item") == [1, 2, 3])
    }

    @Test func `a key that was removed is missed in words, and replaced with a warning`() throws {
        let ((one, first), (other, second)) = (try vault(), try vault())
        try first.put("item", [1, 2, 3])
        let parcel = try send("item", from: one, to: other)
        let former = try other.coffer(["receive", "--recipient"]).text
        #expect(try other.coffer(["remove", "key:coffer recipient"]).status == 0)
        let refused = try other.coffer(["receive", parcel])
        #expect(
            refused.status == 66 && refused.errors.contains("trash restore 'key:coffer recipient'"),
            "\(refused.errors)"
        )
        #expect(try other.coffer(["trash", "restore", "key:coffer recipient"]).status == 0)
        #expect(try other.coffer(["receive", "--recipient"]).text == former)
        #expect(try other.coffer(["receive", parcel]).status == 0)
        #expect(try other.coffer(["remove", "--now", "key:coffer recipient"]).status == 0)
        // While it is locked none can be made, and the former one is not taken for good.
        _ = try second.lock(graceSeconds: 0)
        #expect(try other.coffer(["receive", "--recipient"]).status == 75)
        try second.unlock()
        let new = try other.coffer(["receive", "--recipient"])
        #expect(new.status == 0 && new.text != former && new.errors.contains("was removed"), "\(new.errors)")
        let again = try other.coffer(["receive", "--recipient"])
        #expect(again.text == new.text && again.errors.isEmpty, "\(again.errors)")
        let foreign = try other.coffer(["receive", parcel, "--as", "b"])
        #expect(foreign.status == 64 && foreign.errors.contains("a former one"), "\(foreign.errors)")
        #expect(try other.coffer(["receive", try send("item", from: one, to: other), "--as", "b"]).status == 0)
    }
}
