internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory
internal import CofferSystem
internal import Glibc

extension CredentialLines {
    /// The lines of a descriptor.
    init(from descriptor: Int32) throws(CofferError) {
        try self.init { (buffer, place) throws(CofferError) in
            while true {
                let count = unsafe buffer.withUnsafeMutableBytes { memory in
                    unsafe read(descriptor, memory.baseAddress.map { unsafe $0 + place }, memory.count - place)
                }
                if count >= 0 { return count }
                if errno != EINTR { throw SystemError("read").cofferError("can't read standard input") }
            }
        }
    }
}
