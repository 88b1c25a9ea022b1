package import CofferClient
import CofferCore
import CofferMemory

// Tests hold contents as arrays: they are no secrets.

extension OpenedFile {
    /// Reads bytes, in as many requests as it takes.
    package func get(at offset: Int64 = 0, _ count: Int = .max) throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            let wanted = min(count - all.count, Limits.framePayloadBytes)
            switch try read(at: offset + Int64(all.count), count: wanted) {
            case .none: return all
            case .some(let piece):
                if piece.count == 0 { return all }
                all += piece.exposeBytes()
            }
        }
        return all
    }

    /// Writes bytes, in as many requests as it takes.
    package func put(_ bytes: [UInt8], at offset: Int64? = nil) throws {
        var done = 0
        repeat {
            let piece: SecretBytes? = try SecretBytes(bytes.dropFirst(done).prefix(Limits.framePayloadBytes))
            try write(piece, at: offset.map { $0 + Int64(done) })
            done += piece.byteCount
        } while done < bytes.count
    }
}
