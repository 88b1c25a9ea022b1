import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What the pages say of refusals is what the daemon does: with which code, and with which way out.
@Suite struct RefusalsTests {
    /// A daemon with an unlocked vault.
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        return daemon
    }

    private func refusal(_ body: () throws -> Void) throws -> CofferError? {
        do { try body() } catch let error as CofferError { return error }
        return nil
    }

    @Test func `a directory is not opened, for reading as for writing`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let made = try daemon.coffer(["file", "mkdir", "dir"])
        #expect(made.status == 0, "\(made.errors)")
        let name = try ItemName("dir")
        for params in [
            FileOpenParameters(name: name), FileOpenParameters(name: name, access: .readWrite),
            FileOpenParameters(name: name, access: .write, creates: true),
        ] {
            let error = try refusal { _ = try client.call(params) }
            #expect(error?.code == .param, "\(params)")
        }
        let missing = try refusal { _ = try client.call(FileOpenParameters(name: try ItemName("no"))) }
        #expect(missing?.code == .itemNotFound)
        // It is no item either.
        for arguments in [["get", "dir"], ["show", "dir"], ["remove", "dir"]] {
            let result = try daemon.coffer(arguments)
            #expect(result.status == 66, "\(arguments)")
        }
    }

    @Test func `a second writer is referred to waiting`() throws {
        let daemon = try vault()
        let (client, other) = (try daemon.connect(), try daemon.connect())
        let name = try ItemName("f")
        _ = try client.call(FileOpenParameters(name: name, access: .write, creates: true))
        let error = try #require(
            try refusal { _ = try other.call(FileOpenParameters(name: name, access: .write)) }
        )
        #expect(error.code == .notAvailable)
        #expect(error.retry == .later)
        #expect(error.hint?.contains("'wait'") == true)
        #expect(error.hint?.contains("again") == false)
    }

    @Test(arguments: [#""params":null"#, #""id":null"#])
    func `null counts as absent for a parameter, and for nothing else of a request`(member: String) throws {
        let daemon = try vault()
        let peer = try HostilePeer(daemon)
        let rest = member.contains("id") ? #""params":{}"# : #""id":1"#
        let json = Array(#"{"jsonrpc":"2.0","method":"vault.status",\#(rest),\#(member)}"#.utf8)
        peer.send(FrameHeader.encode(jsonCount: json.count, payloadCount: 0) + json)
        peer.send(HostilePeer.frame(.itemList, ["prefix": .null], id: 7))
        let replies = try peer.replies(2)
        #expect(replies.first?.objectValue?["error"]?.objectValue?["code"] == -32_600)
        #expect(replies.last?.objectValue?["id"] == 7)
        #expect(replies.last?.objectValue?["result"] != nil)
    }

    @Test(arguments: [1, 3, 8, 20])
    func `a descriptor in the middle of a frame is refused, and nothing is stored`(place: Int) throws {
        let daemon = try vault()
        let path = try daemon.directory.write(Array("content".utf8), to: "content")
        let file = try #require(FileHandle(forReadingAtPath: path))
        let peer = try HostilePeer(daemon)
        let frame = HostilePeer.frame(.itemPut, ["name": "f", "kind": "document"])
        peer.send(Array(frame.prefix(place)))
        let number = peer.socket.number
        let isTaken = settles {
            var count: Int32 = -1
            return ioctl(number, UInt(TIOCOUTQ), &count) == 0 && count == 0
        }
        #expect(isTaken)
        let isSent = peer.send(Array(frame.dropFirst(place)), passing: [file.fileDescriptor])
        #expect(isSent)
        let replies = try peer.replies()
        #expect(replies.map(\.errorCode) == ["param"])
        #expect(replies.first?.objectValue?["id"] == .null)
        let shown = try daemon.coffer(["show", "f"])
        #expect(shown.status == 66)
    }

    @Test func `what never leaves the device is not synchronizable`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let attributes: [KeychainAttribute: AttributeValue] = [.account: .text("a"), .synchronizable: .bool(true)]
        for accessibility in Accessibility.allCases {
            let error = try refusal {
                try client.add(.genericPassword, attributes, accessible: accessibility)
                _ = try client.deleteKeychainItems(KeychainQuery(.genericPassword))
            }
            #expect(error?.code == (accessibility.isThisDeviceOnly ? .param : nil), "\(accessibility)")
        }
        let reference = try client.add(.genericPassword, attributes)
        let query = KeychainQuery(reference: reference)
        let change = KeychainChange(accessibility: .whenUnlockedThisDeviceOnly)
        #expect(try refusal { try client.update(query, change) }?.code == .param)
        try client.update(query, KeychainChange(attributes: [.synchronizable: .bool(false)]))
        try client.update(query, change)
        let again = KeychainChange(attributes: [.synchronizable: .bool(true)])
        #expect(try refusal { try client.update(query, again) }?.code == .param)
    }

    @Test func `generate makes one private key, which stays inside unless it is said to be extractable`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        _ = try client.makeKeychainKey(.ed25519, [.label: .text("inside")])
        let items = try client.find(KeychainQuery(.key), returns: [.attributes]).page.items
        #expect(items.map { $0.attributes?[.keyClass] } == [.text("private")])
        #expect(items.map { $0.attributes?[.isExtractable] } == [.bool(false)])
        let kept = try refusal { _ = try client.find(KeychainQuery(.key), returns: [.data]) }
        #expect(kept?.code == .missingEntitlement)
        let free: [KeychainAttribute: AttributeValue] = [.label: .text("free"), .isExtractable: .bool(true)]
        _ = try client.makeKeychainKey(.ed25519, free)
        let found = try client.find(KeychainQuery(.key, [.label: .text("free")]), returns: [.data])
        #expect(found.secrets.map(\.count) == [32])
    }
}
