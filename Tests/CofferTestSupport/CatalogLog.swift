import Foundation

/// The log of a catalog, as it lies on the disk.
package enum CatalogLog {
    package static let headerBytes = 32
    /// The header of a frame, and a page.
    package static let frameBytes = 24 + 4096

    /// Where the frames of a log end: the file has grown ahead of them.
    package static func end(of log: [UInt8]) -> Int {
        let salts = log[16..<24]
        var end = headerBytes
        while end + frameBytes <= log.count, log[end + 8..<end + 16] == salts { end += frameBytes }
        return end
    }

    /// Cuts off what a log has grown ahead, so that the next commit needs room on the disk.
    ///
    /// - Parameter state: The path of a state directory.
    package static func cut(in state: String) throws {
        let log = URL(filePath: "\(state)/vault.sqlite-wal")
        let end = end(of: Array(try Data(contentsOf: log)))
        let handle = try FileHandle(forWritingTo: log)
        try handle.truncate(atOffset: UInt64(end))
        try handle.close()
    }
}
