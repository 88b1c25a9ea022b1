internal import Glibc

/// The numbers of users, which a user namespace may map to others.
package enum UserNumbers {
    /// Whether a process has the same numbers of users as this one.
    ///
    /// - Parameter process: Its number; `nil` if it is not known.
    /// - Returns: `true` if the kernel does not say.
    package static func areShared(with process: Int32?) -> Bool {
        guard let process, let map = map(of: "\(process)") else { return true }
        return map == self.map(of: "self")
    }

    private static func map(of process: String) -> [UInt8]? {
        try? OwnedDescriptor.content(ofFile: "/proc/\(process)/uid_map", upTo: 1 << 16)
    }
}
