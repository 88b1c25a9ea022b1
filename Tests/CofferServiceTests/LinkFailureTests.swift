import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Synchronization
import Testing

/// Fails the Nth operation on the disk, for N = 1, 2, 3 …, while links and extended attributes are made and removed.
@Suite struct LinkFailureTests {
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

    private static let value = pseudoRandomBytes(300, seed: 5)

    /// What is to be there of the tree: each step changes one thing.
    private struct Tree: Equatable {
        var links: Int64 = 1
        var target: String?
        var attribute: [UInt8]?
        var exchanged = false
    }

    /// The trees before the first step, and after each.
    private static let trees: [Tree] = {
        var (all, next) = ([Tree()], Tree())
        for change in [
            { $0.links = 2 }, { $0.target = "a" }, { $0.attribute = value }, { $0.exchanged = true },
            { $0.attribute = nil }, { $0.target = nil }, { $0.links = 1 },
        ] as [(inout Tree) -> Void] {
            change(&next)
            all.append(next)
        }
        return all
    }()

    /// - Returns: How many steps were answered.
    private func run(_ client: BlockingClient) throws -> Int {
        let (a, b, l, s) = (try ItemName("a"), try ItemName("b"), try ItemName("d/l"), try ItemName("d/s"))
        let attribute = FileSetExtendedAttributeParameters(name: a, attribute: "user.note")
        let steps: [() throws -> Void] = [
            { try client.call(FileLinkParameters(name: a, target: l)) },
            { try client.call(FileSymlinkParameters(name: s, target: "a")) },
            { try client.call(attribute, payload: Secret(copying: Self.value.span.bytes)) },
            { try client.call(FileRenameParameters(name: a, target: b, exchanges: true)) },
            { try client.call(FileRemoveExtendedAttributeParameters(name: b, attribute: "user.note")) },
            { try client.call(FileRemoveParameters(name: s)) },
            { try client.call(FileRemoveParameters(name: l)) },
        ]
        for (number, step) in steps.enumerated() where try Outcome(step) != .done { return number }
        return steps.count
    }

    /// What is there.
    private func tree(_ client: BlockingClient, inode: Int64) throws -> Tree {
        let isExchanged = try client.fileInfo(try ItemName("b")).inode == inode
        let name = try ItemName(isExchanged ? "b" : "a")
        let file = try client.fileInfo(name)
        #expect(file.inode == inode)
        var tree = Tree(links: file.linkCount, exchanged: isExchanged)
        _ = try Outcome { tree.target = try client.fileInfo(try ItemName("d/s")).target }
        _ = try Outcome {
            let params = FileGetExtendedAttributeParameters(name: name, attribute: "user.note")
            tree.attribute = try client.call(params).payload.exposeBytes()
        }
        return tree
    }

    @Test func `each step is made or not, whichever operation fails, and none is half done`() throws {
        for number in 1... {
            let server = try TestServer(fileSystem: fileSystem)
            let client = try server.connect()
            try client.makeVault(passcode: nil)
            for name in ["a", "b"] { try client.put(name, [1, 2, 3]) { $0.kind = .database } }
            let inode = try client.fileInfo(try ItemName("a")).inode
            operations.value = (number, 0)
            let answered = try run(client)
            let isOver = operations.value.count < number
            operations.value = (0, 0)
            let found = try #require(Self.trees.firstIndex(of: try tree(client, inode: inode)), "operation \(number)")
            #expect(answered...(answered + 1) ~= found, "operation \(number): \(answered) steps, and it is \(found)")
            #expect(try client.checkVault().findings.isEmpty, "operation \(number)")
            if isOver { return #expect(answered == Self.trees.count - 1) }
        }
    }
}
