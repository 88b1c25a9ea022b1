internal import CofferClient
internal import CofferContents
internal import CofferMemory
internal import CofferSystem
internal import Glibc

extension GitRequest {
    /// Reads a request from a descriptor.
    ///
    /// - Throws: `param` if it is none; `dataTooLarge` if a value that is used is too long.
    init(reading descriptor: Int32) throws(CofferError) {
        let lines = try CredentialLines { (buffer, place) throws(CofferError) in
            while true {
                let count = unsafe buffer.withUnsafeMutableBytes { memory in
                    unsafe read(descriptor, memory.baseAddress.map { unsafe $0 + place }, memory.count - place)
                }
                if count >= 0 { return count }
                if errno != EINTR { throw SystemError("read").cofferError("can't read standard input") }
            }
        }
        try self.init(lines)
    }
}
