package import CofferCore
internal import Glibc

/// The users and groups of the machine, by name and by number.
package enum UserDatabase {
    private static let entryBytes = 1 << 16

    /// The number of a user.
    ///
    /// - Parameter name: The user's name.
    /// - Throws: `param` if there is no such user; `io` if the machine can't say.
    package static func userID(named name: String) throws(CofferError) -> UInt32 {
        if let number = try findUser(named: name) { return number }
        throw CofferError(.param, "there is no user \(quotedForDisplay(name))", hint: "'UID=' takes a number")
    }

    /// The number of a user; `nil` if there is no such user.
    ///
    /// - Parameter name: The user's name.
    /// - Throws: `io` if the machine can't say.
    package static func findUser(named name: String) throws(CofferError) -> UInt32? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: entryBytes)
        try check(unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found), "the user \(quotedForDisplay(name))")
        return unsafe found == nil ? nil : entry.pw_uid
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
    /// - Throws: `param` if there is no such group; `io` if the machine can't say.
    package static func groupID(named name: String) throws(CofferError) -> UInt32 {
        if let number = try findGroup(named: name) { return number }
        throw CofferError(.param, "there is no group \(quotedForDisplay(name))", hint: "'GID=' takes a number")
    }

    /// The number of a group; `nil` if there is no such group.
    ///
    /// - Parameter name: The group's name.
    /// - Throws: `io` if the machine can't say.
    package static func findGroup(named name: String) throws(CofferError) -> UInt32? {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: entryBytes)
        try check(unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &found), "the group \(quotedForDisplay(name))")
        return unsafe found == nil ? nil : entry.gr_gid
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

    /// Checks the result of a look-up; some sources of names report what is missing as an error.
    private static func check(_ code: Int32, _ sought: String) throws(CofferError) {
        if [0, ENOENT, ESRCH].contains(code) { return }
        throw SystemError("look up", code: code).cofferError("can't look up \(sought)")
    }
}
