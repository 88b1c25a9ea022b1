import CofferTestSupport
import Testing

extension Vault {
    /// The records in the two slots of the file `attempts`, as FORMATS.md has them.
    func storedAttempts() throws -> (latest: [UInt8], former: [UInt8]) {
        let bytes = try #require(temporary.contents("attempts"))
        try #require(bytes.count == 8192)
        let slots = try [0, 4096].map { offset in
            let slot = Array(bytes[offset..<(offset + 4096)])
            try #require(slot.prefix(10).elementsEqual(Array("COFFERAT".utf8) + [0, 1]))
            let sequence = slot[10..<18].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let count = Int(slot[18]) << 8 | Int(slot[19])
            #expect(slot[(20 + count + 32)...].allSatisfy { $0 == 0 })
            return (sequence: sequence, record: Array(slot[20..<(20 + count)]))
        }
        .sorted { $0.sequence > $1.sequence }
        return (slots[0].record, slots[1].record)
    }
}
