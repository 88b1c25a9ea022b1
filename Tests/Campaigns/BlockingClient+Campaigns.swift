import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

extension BlockingClient {
    /// All items by name, and the number of damaged ones.
    func listAll() throws -> (items: [String: ItemInfo], damagedCount: Int) {
        var items: [String: ItemInfo] = [:]
        var damagedCount = 0
        var after: String?
        repeat {
            let page = try list(after: after)
            for item in page.items { items[item.name] = item }
            damagedCount += page.damagedCount
            after = page.next
        } while after != nil
        return (items, damagedCount)
    }

    /// All findings of a check.
    func checkAll(repairs: Bool = false) throws -> [Finding] {
        var findings: [Finding] = []
        var cursor: String?
        repeat {
            let page = try checkVault(repairs: repairs, cursor: cursor)
            findings += page.findings
            cursor = page.cursor
        } while cursor != nil
        return findings
    }

    /// All findings of a verification of the audit.
    func verifyAll() throws -> [String] {
        var findings: [String] = []
        var number: Int64? = 0
        while let start = number {
            let part = try verifyAudit(after: start)
            findings += part.findings
            number = part.next
        }
        return findings
    }

    /// The former secrets of an item of the keychain, the newest first.
    func formerSecrets(of name: String) throws -> [[UInt8]] {
        let item = try ItemName(name)
        let query = KeychainQuery(.genericPassword, [.service: .text(item.service), .account: .text(item.account)])
        return try formerSecrets(of: query)
    }
}

extension DaemonProcess {
    /// Makes the daemon end with the campaign, even after a crash.
    static let endingWithUs = ["/usr/bin/setpriv", "--pdeathsig", "KILL"]

    /// Connects without checking each answer against `openrpc.json`, which takes longer than the answer.
    func connectUnchecked() throws -> BlockingClient { try BlockingClient(socketPath: socketPath) }

    /// The contents in the state directory, by their ids.
    func contentIDs() throws -> Set<String> {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: statePath + "/blobs")) ?? []
        return Set(
            paths.map { ($0 as NSString).lastPathComponent }.filter { $0.count >= 32 }.map { String($0.prefix(32)) }
        )
    }

    /// Throws if staged or removed contents are left over.
    func expectNothingLeft(files fileCount: Int) throws {
        let contents = try contentIDs()
        try expect(contents.count == fileCount, "\(contents.count) contents are there, for \(fileCount) files")
        let staging = try FileManager.default.contentsOfDirectory(atPath: statePath + "/blobs/staging")
        try expect(staging.isEmpty, "left in 'staging': \(staging)")
        let names = try FileManager.default.contentsOfDirectory(atPath: statePath)
        try expect(!names.contains { $0.hasSuffix(".new") }, "left in the state directory: \(names)")
    }

    /// Throws if the daemon has ended.
    func expectAlive() throws {
        if let ending { throw Fault("the daemon has ended: \(ending)") }
    }
}
