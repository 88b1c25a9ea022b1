package import CofferCore
internal import Glibc

/// The users and groups of the machine, by name and by number.
package enum UserDatabase {
    private static let entryBytes = 1 << 16

    /// The number of a user.
    ///
    /// - Parameter name: The user's name.
    /// - Throws: `param` if there is no such user.
    package static func userID(named name: String) throws(CofferError) -> UInt32 {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: entryBytes)
        let code = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        guard code == 0, unsafe found != nil else {
            throw CofferError(.param, "there is no user \(quotedForDisplay(name))", hint: "'UID=' takes a number")
        }
        return unsafe entry.pw_uid
    }

    /// The name of a user; `nil` if there is no such user.
    package static func userName(of number: UInt32) -> String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: entryBytes)
        let code = unsafe getpwuid_r(number, &entry, &buffer, buffer.count, &found)
        guard code == 0, unsafe found != nil else { return nil }
        return unsafe String(cString: entry.pw_name)
    }

    /// The number of a group.
    ///
    /// - Parameter name: The group's name.
    /// - Throws: `param` if there is no such group.
    package static func groupID(named name: String) throws(CofferError) -> UInt32 {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: entryBytes)
        let code = unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &found)
        guard code == 0, unsafe found != nil else {
            throw CofferError(.param, "there is no group \(quotedForDisplay(name))", hint: "'GID=' takes a number")
        }
        return unsafe entry.gr_gid
    }

    /// The name of a group; `nil` if there is no such group.
    package static func groupName(of number: UInt32) -> String? {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: entryBytes)
        let code = unsafe getgrgid_r(number, &entry, &buffer, buffer.count, &found)
        guard code == 0, unsafe found != nil else { return nil }
        return unsafe String(cString: entry.gr_name)
    }
}
