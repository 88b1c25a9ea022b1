import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Fails the Nth operation on the disk, for N = 1, 2, 3 …, while versions are made, restored and destroyed.
@Suite struct VersionFailureTests {
    /// Which operation fails, and how many there were.
    private let operations = Shared((failing: 0, count: 0))

    private var fileSystem: FileSystem {
        FileSystem(intercept: { [operations] (_) throws(SystemError) in
            var fails = false
            operations.change { operations in
                operations.count += 1
                fails = operations.count == operations.failing
            }
            if fails { throw SystemError("test", code: EIO) }
        })
    }

    /// What is to be there of the file: each step changes one thing.
    private struct Contents: Equatable {
        var present: UInt8
        var former: [UInt8]
    }

    /// The contents before the first step, and after each.
    private static let contents = [
        Contents(present: 1, former: []), Contents(present: 2, former: [1]), Contents(present: 3, former: [2, 1]),
        Contents(present: 2, former: [3, 1]), Contents(present: 2, former: [3]), Contents(present: 2, former: []),
    ]

    private static func content(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 70_000) }

    /// - Returns: How many steps were answered.
    private func run(_ client: BlockingClient) throws -> Int {
        let rename = FileRenameParameters(name: try ItemName("b"), target: try ItemName("a"), replaces: true)
        let steps: [() throws -> Void] = [
            { try client.put("a", Self.content(2)) },
            { try client.call(rename) },
            {
                let newest = try client.versions(of: "a").versions.first
                try client.restoreVersion(newest?.number ?? 0, of: "a")
            },
            { try client.keepVersions(1, of: "a") },
            { try client.call(FileRemoveVersionsParameters(name: try ItemName("a"))) },
        ]
        for (number, step) in steps.enumerated() where try Outcome(step) != .done { return number }
        return steps.count
    }

    /// What is there.
    private func contents(_ client: BlockingClient) throws -> Contents {
        let versions = try client.versions(of: "a").versions
        let former = try versions.map { try client.content(of: "a", version: $0.number) }
        let present = try client.content(of: "a")
        for content in [present] + former { #expect(content == Self.content(content.first ?? 0)) }
        return Contents(present: present.first ?? 0, former: former.map { $0.first ?? 0 })
    }

    @Test func `each step is made or not, whichever operation fails, and no content is lost`() throws {
        for number in 1... {
            let server = try TestServer(fileSystem: fileSystem)
            let client = try server.connect()
            try client.makeVault(passcode: nil)
            try client.put("a", Self.content(1))
            try client.put("b", Self.content(3))
            try client.keepVersions(3, of: "a")
            operations.value = (number, 0)
            let answered = try run(client)
            let isOver = operations.value.count < number
            operations.value = (0, 0)
            let found = try #require(Self.contents.firstIndex(of: try contents(client)), "operation \(number)")
            #expect(answered...(answered + 1) ~= found, "operation \(number): \(answered) steps, and it is \(found)")
            #expect(try client.checkVault().findings.isEmpty, "operation \(number)")
            if isOver { return #expect(answered == Self.contents.count - 1) }
        }
    }
}
