internal import CFuse

/// A part of a listing, as the kernel reads it.
struct DirectoryPage {
    private(set) var bytes: [UInt8]
    private(set) var count = 0

    /// Fills a page.
    ///
    /// - Parameters:
    ///   - listing: The listing; its entries come after the directory itself and its parent.
    ///   - directory: The number of the directory.
    ///   - cookie: How many entries the program has read.
    ///   - byteCount: The size of the page.
    ///   - withAttributes: Whether the kernel wants attributes; it then has looked up each entry.
    ///   - request: The request.
    ///   - learn: Gets each entry that the kernel has looked up.
    init(
        of listing: DirectoryListing,
        in directory: UInt64,
        from cookie: Int,
        byteCount: Int,
        withAttributes: Bool,
        for request: Request,
        learn: (DirectoryListing.Entry) -> Void
    ) throws(Errno) {
        bytes = [UInt8](repeating: 0, count: byteCount)
        let validity = withAttributes ? listing.validity(believing: request.filesystem.validity) : nil
        for index in cookie..<Int.max {
            var entry: DirectoryListing.Entry?
            if index >= 2 {
                let found: DirectoryListing.Found
                // What the kernel has looked up must reach it.
                do throws(Errno) { found = try listing.entry(at: index - 2) } catch  where count > 0 { return }
                switch found {
                case .entry(let next): entry = next
                case .removed: continue
                case .end: return
                }
            }
            let name = entry?.name.text ?? (index == 0 ? "." : "..")
            let attributes = entry?.attributes ?? .unknownDirectory(directory)
            let taken = count
            let used = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[taken...])
                return unsafe request.add(name, attributes, cookie: index + 1, validity: validity, to: rest)
            }
            if used > byteCount - count { return }
            count += used
            if withAttributes, let entry { learn(entry) }
        }
    }
}

extension Attributes {
    /// What the kernel reads of a directory's own entries: their type.
    fileprivate static func unknownDirectory(_ number: UInt64) -> Attributes {
        var attributes = Attributes.root(at: 0)
        attributes.number = number
        return attributes
    }
}
