import CofferCore
import CofferFiles
import Testing

@Suite struct `Metadata that was sealed before the first unlock` {
    private func metadata(_ name: String) -> NodeMetadata {
        NodeMetadata(group: "default", name: name, created: 0, modified: 0)
    }

    @Test func `is known of an open file, however much is sealed after it`() {
        let recent = RecentMetadata()
        recent.isInUse = { $0 == 1 }
        for row in 1...Int64(10 * Limits.openFiles) { recent.keep(metadata("\(row)"), as: [UInt8(row % 251)], of: row) }
        #expect(recent.metadata(of: 1, as: [1])?.name == "1")
        #expect(recent.metadata(of: 2, as: [2]) == nil)
    }

    @Test func `is that of the bytes in the row, whether its transaction was committed or not`() {
        let recent = RecentMetadata()
        recent.keep(metadata("first"), as: [1], of: 7)
        #expect(recent.metadata(of: 7, as: [1])?.name == "first")
        for attempt in 2...9 as ClosedRange<UInt8> {
            recent.keep(metadata("attempt \(attempt)"), as: [attempt], of: 7)
            #expect(recent.metadata(of: 7, as: [1])?.name == "first", "it was rolled back")
        }
        recent.keep(metadata("done"), as: [10], of: 7)
        #expect(recent.metadata(of: 7, as: [10])?.name == "done")
        #expect(recent.metadata(of: 7, as: [1]) == nil)
    }
}
