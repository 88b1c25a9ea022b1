import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What was acknowledged is there, whatever happens to the daemon.
@Suite struct DurabilityTests {
    @Test(arguments: [("secret", 2000), ("file", 400_000)])
    func `a kill in the middle of a put leaves the old item or the new`(kind: String, count: Int) throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: nil)
        func content(_ version: Int) -> [UInt8] { pseudoRandomBytes(count, seed: UInt64(version) + 1) }
        func put(_ client: BlockingClient, _ version: Int) throws {
            try client.put("item", content(version)) { $0.kind = kind == "secret" ? .token : .document }
        }
        var acknowledged = 0
        try put(try daemon.connect(), 0)
        for round in 0..<25 {
            let client = try daemon.connect()
            let writer = Background { () -> Int in
                var last = 0
                for step in 1...1000 {
                    do { try put(client, round * 1000 + step) } catch { break }
                    last = round * 1000 + step
                }
                return last
            }
            sleepSeconds(Double((round * 37) % 50) / 1000 + 0.002)
            daemon.kill()
            let last = try writer.wait()
            if last > 0 { acknowledged = last }
            try daemon.restart()
            let now = try daemon.connect().get("item", length: 2000)
            let old = Array(content(acknowledged).prefix(2000))
            let next = Array(content(round * 1000 + (last % 1000) + 1).prefix(2000))
            #expect(now == old || now == next, "round \(round)")
            if now == next { acknowledged = round * 1000 + (last % 1000) + 1 }
            // Reading all of it proves that it is whole.
            #expect(try daemon.coffer(["get", "item"]).output == content(acknowledged))
        }
        daemon.kill()
        try daemon.restart()
        let contents = try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath + "/blobs")
            .filter { $0.split(separator: "/").last?.count == 32 }
        #expect(contents.count == (kind == "secret" ? 0 : 1), "no content is left behind")
    }

    @Test func `a kill while an item moves between the stores leaves one item, old or new and whole`() throws {
        let daemon = try DaemonProcess()
        let first = try daemon.connect()
        try first.makeVault(passcode: nil)
        func content(_ version: Int) -> [UInt8] {
            pseudoRandomBytes(version.isMultiple(of: 2) ? 300 : 5000, seed: UInt64(version) + 1)
        }
        try first.put("item", content(0)) { $0.accessibility = .afterFirstUnlock }
        let created = try first.show(try ItemName("item")).created
        let end = ContinuousClock.now + .seconds(8)
        var version = 0
        var round = 0
        while ContinuousClock.now < end {
            let (client, start) = (try daemon.connect(), version)
            let writer = Background { () -> Int in
                var done = start
                while true {
                    do {
                        let store = done.isMultiple(of: 2) ? StoreName.file : .keychain
                        try client.put("item", content(done + 1)) { $0.store = store }
                    } catch {
                        return done
                    }
                    done += 1
                }
            }
            sleepSeconds(Double((round * 37) % 50) / 1000 + 0.002)
            daemon.kill()
            version = try writer.wait()
            try daemon.restart()
            let items = try daemon.connect().list().items
            #expect(items.map(\.name) == ["item"])
            #expect(items.map(\.created) == [created])
            let now = try daemon.connect().get("item")
            #expect(now == content(version) || now == content(version + 1), "round \(round)")
            if now == content(version + 1) { version += 1 }
            let isFile = now.count == 5000
            #expect(
                items.map(\.protection)
                    == [isFile ? .file(.completeUntilFirstUserAuthentication) : .keychain(.afterFirstUnlock)]
            )
            let contents = try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath + "/blobs")
                .filter { $0.split(separator: "/").last?.count == 32 }
            let again = try daemon.connect()
            let versions = isFile ? try again.versions(of: "item").versions : []
            #expect(contents.count == (isFile ? 1 + versions.count : 0), "no content is left behind")
            let former =
                isFile
                ? try versions.map { try again.content(of: "item", version: $0.number) }
                : try again.formerSecrets(of: KeychainQuery(.genericPassword, [.account: .text("item")]))
            #expect(former == (0..<version).suffix(Limits.defaultHistoryValues).reversed().map(content))
            round += 1
        }
        #expect(round > 3)
    }

    @Test func `a vault opens again after the daemon was stopped`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("a", [1])
        try client.put("b", pseudoRandomBytes(70_000)) { $0.kind = .database }
        #expect(daemon.stop() == 0)
        try daemon.restart()
        let again = try daemon.connect()
        try again.unlock()
        #expect(try again.get("a") == [1])
        #expect(try again.get("b") == pseudoRandomBytes(70_000))
    }

    @Test func `an item that outgrows the keychain becomes a file, keeps its policy, and stays one`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("item", [1]) { $0.accessibility = .afterFirstUnlock }
        let created = try client.show(try ItemName("item")).created
        try client.put("item", pseudoRandomBytes(Limits.secretBytes))
        #expect(try client.show(try ItemName("item")).protection == .keychain(.afterFirstUnlock))
        try client.put("item", pseudoRandomBytes(Limits.secretBytes + 1))
        let grown = try client.show(try ItemName("item"))
        #expect(grown.protection == .file(.completeUntilFirstUserAuthentication))
        #expect(grown.created == created)
        #expect(try client.list().items.count == 1)
        try client.put("item", [2])
        let shrunk = try client.show(try ItemName("item"))
        #expect(shrunk.protection == .file(.completeUntilFirstUserAuthentication))
        #expect(shrunk.created == created)
        #expect(try client.list().items.count == 1)
        #expect(try client.get("item") == [2])
    }

    @Test func `listing is sorted by bytes and paged`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        let names = (0..<25).map { "n/\($0)" } + ["A", "é", "z"]
        for name in names { try client.put(name, [1]) { if name.hasPrefix("n/1") { $0.store = .file } } }
        var listed: [String] = []
        var after: String?
        repeat {
            let page = try client.list(after: after, limit: 7)
            #expect(page.items.count <= 7)
            listed += page.items.map(\.name)
            after = page.next
        } while after != nil
        #expect(listed.sortedByBytes() == names.sortedByBytes())
        #expect(try client.list(prefix: "n/1").items.count == 11)
        #expect(try client.list(store: .keychain).items.count == 17)
    }
}
