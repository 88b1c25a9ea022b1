package import CofferClient
package import CofferCore
package import CofferMemory

// Contents as arrays, which need no protection in tests.

extension OpenedFile {
    /// Reads bytes with as many requests as necessary.
    package func get(at offset: Int64 = 0, _ count: Int = .max) throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            let wanted = min(count - all.count, Limits.framePayloadBytes)
            let piece = try read(at: offset + Int64(all.count), count: wanted)
            if piece.count == 0 { return all }
            all += piece.exposeBytes()
        }
        return all
    }

    /// Writes a copy of a secret.
    @discardableResult
    package func write(
        _ bytes: borrowing SecretBytes?,
        at offset: Int64? = nil
    ) throws(CofferError) -> Int64 {
        try write(try Secret(copying: bytes), at: offset)
    }

    /// Writes bytes with as many requests as necessary.
    package func put(_ bytes: [UInt8], at offset: Int64? = nil) throws {
        var done = 0
        repeat {
            let piece = Secret(try SecretBytes(bytes.dropFirst(done).prefix(Limits.framePayloadBytes)))
            try write(piece, at: offset.map { $0 + Int64(done) })
            done += piece.count
        } while done < bytes.count
    }
}
