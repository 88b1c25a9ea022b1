package import CofferClient

extension Secret {
    /// The secret without one line end, which `echo` appends.
    package func withoutLineEnd() throws(CofferError) -> Secret {
        try withBytes { (bytes) throws(CofferError) in
            guard bytes.byteCount > 0, bytes.byte(at: bytes.byteCount - 1) == 10 else { return self }
            return try Secret(copying: bytes.extracting(bytes.withoutReturn(0..<(bytes.byteCount - 1))))
        }
    }
}
