package import CofferClient
import CofferCore
package import CofferWire

extension BlockingClient {
    /// The former contents of a file.
    package func versions(of name: String) throws -> FileVersions {
        try call(FileVersionsParameters(name: try ItemName(name))).value
    }

    /// Changes how many versions are kept.
    ///
    /// - Returns: How many were destroyed.
    @discardableResult
    package func keepVersions(_ count: Int?, of name: String) throws -> Int64 {
        try call(FileKeepVersionsParameters(name: try ItemName(name), keepCount: count)).value.count
    }

    /// Makes a version the present content.
    package func restoreVersion(_ number: Int64, of name: String) throws {
        try call(FileRestoreParameters(name: try ItemName(name), number: number))
    }

    /// The content of a file, or of a version of it.
    package func content(of name: String, version: Int64? = nil) throws -> [UInt8] {
        let file = try openFile(try ItemName(name), version: version)
        var bytes: [UInt8] = []
        while true {
            let piece = try file.read(at: Int64(bytes.count), count: Limits.framePayloadBytes).exposeBytes()
            if piece.isEmpty { break }
            bytes += piece
        }
        try file.close()
        return bytes
    }
}
