import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The table of `proto-docs/PERFORMANCE.md` that says what a request costs the daemon at most, counted in one that runs.
@Suite(.enabled(if: SystemCallTrace.isPermitted, "only root with strace sees the daemon's system calls"))
struct RequestCostTests {
    private static let page = [UInt8](repeating: 7, count: 4096)
    private static let bytes = Array("abc".utf8)

    @Test func `no request costs more than the page says`() throws {
        let rows = try Self.rows()
        let costs = try measure(against: rows)
        #expect(rows.map(\.request).sorted() == costs.keys.sorted())
        for row in rows {
            let cost = try #require(costs[row.request])
            #expect(cost.isWithin(row.measured), "\(row.request): \(cost) now, \(row.measured) on the page")
            #expect(row.isMet == row.measured.isWithin(row.target), "\(row.request)")
            if row.isMet { continue }
            withKnownIssue("\(row.request) costs more than its target", isIntermittent: true) {
                #expect(cost.isWithin(row.target))
            }
        }
    }

    @Test func `a connection that defers syncs defers those of the tree, and no other`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.call(HelloParameters(protocolNumber: Int64(Version.protocolNumber), defersSyncs: true))
        let trace = try SystemCallTrace(daemon)
        func syncs(_ request: (Int) throws -> Void) throws -> Int { try trace.cost(expecting: nil, request).syncs }
        #expect(try syncs { try client.call(FileMkdirParameters(name: ItemName("folder\($0)"))) } == 0)
        #expect(
            try syncs {
                try client.call(FileOpenParameters(name: ItemName("made\($0)"), access: .readWrite, creates: true))
            } == 0
        )
        #expect(try syncs { try client.put("new/\($0)", Self.bytes) } == 1)
        #expect(try syncs { try client.put("new/0", Self.bytes + [UInt8($0)]) } == 1)
        #expect(try syncs { try client.remove(ItemName("new/\($0)")) } == 1)
        let own = try daemon.connect()
        #expect(try syncs { try own.call(FileMkdirParameters(name: ItemName("synced\($0)"))) } == 1)
    }

    private func measure(against rows: [Row]) throws -> [String: SystemCallTrace.Cost] {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("site/token", Self.bytes)
        let file = try client.openFile(ItemName("file"), for: .readWrite, [.create])
        try file.write(SecretBytes(Self.page), at: 0)
        try file.sync()
        let token = KeychainQuery(.genericPassword, [.service: .text("site"), .account: .text("token")])

        let trace = try SystemCallTrace(daemon)
        var costs: [String: SystemCallTrace.Cost] = [:]
        func note(_ name: String, _ request: (Int) throws -> Void) throws {
            let row = rows.first { $0.request == name }
            costs[name] = try trace.cost(expecting: row?.measured, request)
        }
        try note("vault.status") { _ in _ = try client.status() }
        try note("item.get") { _ in _ = try client.get("site/token") }
        try note("item.show") { _ in _ = try client.show(ItemName("site/token")) }
        try note("item.put of a new secret") { try client.put("new/\($0)", Self.bytes) }
        try note("item.put of another value") { try client.put("site/token", Self.bytes + [UInt8($0)]) }
        try note("item.put of a file of 4 KiB") {
            try client.put("files/\($0)", Self.page) { $0.kind = .database }
        }
        for number in 0..<trace.mostRepetitions { try client.put("old/\(number)", Self.bytes) }
        try note("item.remove of a secret") { try client.remove(ItemName("old/\($0)")) }
        try note("keychain.find with the secret") { _ in
            _ = try client.findKeychainItems(KeychainFindParameters(token, returns: [.attributes, .data]))
        }
        try note("file.read of 4 KiB that are cached") { _ in _ = try file.read(at: 0, count: 4096) }
        try note("file.sync behind a write of 4 KiB") { number in
            try file.write(SecretBytes(Self.page), at: Int64(number + 1) << 16)
            try file.sync()
        }
        return costs
    }

    private struct Row {
        let request: String
        let target: SystemCallTrace.Cost
        let measured: SystemCallTrace.Cost
        let isMet: Bool
    }

    private static func rows() throws -> [Row] {
        let page = try String(contentsOfFile: "\(Project.root)/proto-docs/PERFORMANCE.md", encoding: .utf8)
        return page.matches(of: /\n\| ([^|]+) \| (\d+), (\d+), (\d+) \| (\d+), (\d+), (\d+) \| (met|MISSED) \|/).map {
            row in
            Row(
                request: String(row.1).replacing("`", with: ""),
                target: .init(syncs: Int(row.2) ?? 0, turns: Int(row.3) ?? 0, calls: Int(row.4) ?? 0),
                measured: .init(syncs: Int(row.5) ?? 0, turns: Int(row.6) ?? 0, calls: Int(row.7) ?? 0),
                isMet: row.8 == "met"
            )
        }
    }
}
