import CofferTestSupport
import Foundation
import FuzzTargets
import Testing

/// What the fuzzer begins with, and what it has found: each input keeps what its target promises.
@Suite struct CorpusTests {
    private static let folder = URL(filePath: Project.root).appending(path: "Tests/Vectors/fuzz")

    @Test(arguments: FuzzTarget.allCases)
    func `each input of the corpus keeps what is promised of it`(_ target: FuzzTarget) throws {
        let folder = Self.folder.appending(path: target.rawValue)
        let inputs = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!inputs.isEmpty)
        for input in inputs {
            let bytes = Array(try Data(contentsOf: input))
            #expect(throws: Never.self, "\(target.rawValue)/\(input.lastPathComponent)") { try target.check(bytes) }
        }
    }

    @Test func `each folder of the corpus is that of a target`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(folders.sorted() == FuzzTarget.allCases.map(\.rawValue).sorted())
    }

    /// What is written down nowhere by a person: the input as it is, without each of its bytes, and with each of its bits
    /// turned.
    @Test(arguments: FuzzTarget.allCases)
    func `the smallest changes of an input keep it, too`(_ target: FuzzTarget) throws {
        let folder = Self.folder.appending(path: target.rawValue)
        for input in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let bytes = Array(try Data(contentsOf: input).prefix(400))
            for index in bytes.indices {
                var changed = bytes
                changed.remove(at: index)
                try target.check(changed)
                changed = bytes
                changed[index] ^= 1 << UInt8(index % 8)
                try target.check(changed)
            }
        }
    }
}
